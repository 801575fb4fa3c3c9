import { launch, open, serve, PAGE, CUTS } from './browser.mjs';
const server = await serve('/work/wt/webcore/web/package', { texts: PAGE });
for (const [name, gpu, choice] of [['cpu', false, 'auto'], ['gpu', true, 'gpu'], ['auto', true, 'auto'],['absent', true, 'auto'],['throws', true, 'auto']]) {
  const browser = await launch(gpu);
  const page = await open(browser, server, '/', CUTS[name]);
  await page.waitForFunction("document.title === 'ready'");
  page.on('console', m => console.log('  console', m.type(), m.text().slice(0,1500)));
  const t = Date.now();
  console.log(name, await page.evaluate(async (choice) => {
    try {
      const t0 = performance.now();
      const d = await umbracast.Device.open(choice);
      const t1 = performance.now();
      const s = await d.scene([5,0,0,1, 0,8,0,2]);
      const h = await s.closest([0,0,0],[1,0,0, 0,1,0, 0,0,1]);
      const t2 = performance.now();
      const m=2e5; let x=1; const rnd=()=>{x=(Math.imul(x,1664525)+1013904223)>>>0; return x/2**32};
      const sp=new Float32Array(4e4).map((_, i)=>i%4==3?0.05+0.05*rnd():20*rnd()-10);
      const big=await d.scene(sp);
      const t3 = performance.now();
      const o=new Float32Array(3*m).map(()=>30*rnd()-15), dd=new Float32Array(3*m).map((_, i)=>20*rnd()-10-o[i]);
      const r=[];
      for (let k=0;k<3;k++) { const t=performance.now(); const h = await big.closest(o,dd); r.push(Math.round(performance.now()-t)); }
      return JSON.stringify([d, t1-t0, t2-t1, t3-t2, [...h.t], [...h.id], h.report, r]);
    } catch (e) { return 'ERR ' + e.name + ' ' + e.message + e.stack; }
  }, choice), page.faults, Date.now() - t, 'ms');
  await browser.close();
}
server.close();
