// Begins: the engine, the tabs, and what is said if something is missing.

import { start as startEngine } from './engine.js';
import { start as startEclipse } from './eclipse.js';
import { state, store } from './state.js';

const $ = id => document.getElementById(id);
const names = ['eclipse', 'rays', 'bullets'];
const begun = new Set();
/** Whether the engine could not be started: other errors follow from it. */
let isLost = false;

function notice(text) {
  $('notice').textContent = text;
  $('notice').hidden = false;
}

async function begin(name) {
  if (begun.has(name)) return;
  begun.add(name);
  if (name === 'eclipse') return startEclipse();
  const { start } = await import(`./${name}.js`);
  return start($(name));
}

function show(name, focus = false) {
  for (const one of names) {
    const tab = $(`tab-${one}`), isOwn = one === name;
    tab.setAttribute('aria-selected', isOwn);
    tab.tabIndex = isOwn ? 0 : -1;
    $(one).hidden = !isOwn;
    if (isOwn && focus) tab.focus();
  }
  store({ tab: name });
  begin(name).catch(error => isLost || notice(error.message));
}

for (const [i, name] of names.entries()) {
  $(`tab-${name}`).onclick = () => show(name);
  $(`tab-${name}`).onkeydown = event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) show(names[(i + step + names.length) % names.length], true);
  };
}

// The address has the state, so it is kept from anchors, and an earlier one is read anew.
addEventListener('popstate', () => location.reload());
document.querySelector('[href="accuracy.html"]').onclick = event => { event.target.hash = location.hash; };
document.querySelector('.skip').onclick = event => {
  event.preventDefault();
  document.querySelector('[role=tabpanel]:not([hidden]) :is(canvas, button, input)').focus();
};

const tell = error => error && !isLost && notice(error.message ?? String(error));
addEventListener('unhandledrejection', event => tell(event.reason));
addEventListener('error', event => tell(event.error));

if (typeof WebAssembly !== 'object') {
  $('status').textContent = 'No engine.';
  notice('This browser has no WebAssembly, or it is turned off (as in lockdown mode), so nothing can be computed on this page. The same results come from the command line: umbracast circumstances 2027-08-02 --city Luxor');
} else {
  startEngine(text => { $('status').textContent = text; }).catch(error => {
    isLost = true;
    $('status').textContent = 'No engine.';
    notice(`The engine could not be started (${error.message}). Reload the page to try again; the command line of umbracast computes the same.`);
  });
  show(state.tab);
}
