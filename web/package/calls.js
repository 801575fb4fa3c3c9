// Answers messages with the engine: in the worker, in Node, and where no worker can be started.
import init, * as engine from './wasm/umbracast.js';

/**
 * Loads the module, and returns a function that answers messages.
 *
 * A message is `{ id, object, call, args }`. It asks for a function of web/engine/src by its name, or for a method if it names an object of
 * an earlier answer. There is no table of calls: what web/engine/src exports can be called. An object that is returned stays here, and the
 * answer has its number.
 *
 * `ephemeris` returns the bytes of the ephemeris. It is called when a call first needs them.
 */
export async function load(wasm, ephemeris) {
  await init({ module_or_path: wasm });
  let taken;
  const takeEphemeris = async () => {
    try {
      engine.take_ephemeris(new Uint8Array(await ephemeris()));
    } catch (error) {
      taken = undefined;
      throw Object.assign(new Error(`the ephemeris could not be loaded: ${error.message}`), { name: 'NoEphemeris' });
    }
  };
  const objects = new Map();
  let last = 0;
  return async function answer({ id, object, call, args }) {
    try {
      if (call === 'free') {
        // One object, or all.
        for (const one of object ? [object] : [...objects.keys()]) {
          objects.get(one)?.free();
          objects.delete(one);
        }
        return { id };
      }
      const run = () => (object ? objects.get(object) : engine)[call](...args);
      let value;
      try {
        value = await run();
      } catch (error) {
        if (error.name !== 'NoEphemeris') throw error;
        await (taken ??= takeEphemeris());
        value = await run();
      }
      if (value?.__wbg_ptr !== undefined) {
        objects.set(++last, value);
        value = last;
      }
      return { id, value };
    } catch (error) {
      // The arguments go back, for another try on another engine. An error that is not the library's has ended the module.
      const { name, message, ...more } = error;
      return { id, error: { name, message: message ?? String(error), ...more }, dead: error instanceof WebAssembly.RuntimeError, args };
    }
  };
}
