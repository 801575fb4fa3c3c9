// The way back from the page on accuracy: the address has the state of the map.
document.querySelector('main a').hash = location.hash;
