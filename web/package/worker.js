// The worker: loads the engine with the first message, and answers the others.
import { buffers } from './api.js';
import { load } from './calls.js';

let answer;
const reply = (message) => postMessage(message, buffers([message.value, message.args]));

// A panic in a future reaches nobody else.
addEventListener('unhandledrejection', ({ reason }) => postMessage({ dead: true, error: { message: String(reason?.message ?? reason) } }));
addEventListener('message', async ({ data }) => {
  if (!answer) {
    answer = load(data.wasm ?? new URL('./wasm/umbracast_bg.wasm', import.meta.url), async () => {
      if (data.ephemeris) return data.ephemeris.arrayBuffer();
      const response = await fetch(new URL('./wasm/ephemeris.bin', import.meta.url));
      if (!response.ok) throw new Error(`${response.url}: ${response.status} ${response.statusText}`);
      return response.arrayBuffer();
    });
    answer.then(
      () => postMessage({ id: data.id }),
      (error) => postMessage({ id: data.id, dead: true, error: { message: error.message } }),
    );
    return;
  }
  reply(await (await answer)(data));
});
