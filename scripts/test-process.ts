import { type AsyncHook, AsyncResource, type createHook } from 'node:async_hooks'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { inspect } from 'node:util'
import fc from 'fast-check'

/** Runs the test files of one process. The files that `scripts/test-groups.ts` writes call it. */

/**
 * The seed of random tests. It is the same in every run: a test that passes once passes again until the
 * code is changed. New values are for `npm run torture`, which has another seed each time (decision 0061).
 */
const SEED = Number(process.env.TEST_SEED ?? 62)

/** Far longer than anything needs to close, on a busy machine too. */
const CLOSE_MS = 60_000

const trackers = catchTrackers()
// Imported after that: the runner takes its functions of `node:async_hooks` when it is loaded.
const { after, describe } = await import('node:test')

/**
 * Runs test files in this process, one after the other, each as a suite of its own. So the hooks that a
 * file has outside of its suites run with that file: what it opens is closed before the next one begins,
 * and where they fail, the other files still run (decision 0062).
 */
export async function runTestFiles(
  root: string,
  files: readonly string[],
  names: readonly string[] = files,
): Promise<void> {
  fc.configureGlobal({ seed: SEED })
  // The runner fails the process for them, and says only their message.
  for (const event of ['uncaughtExceptionMonitor', 'unhandledRejection']) process.on(event, tell)
  // The run was killed: an error that cannot be written would be reported again and again without end.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => process.exit(1))
  after(() => void setTimeout(failOpen, CLOSE_MS).unref())
  const loads = files.map((file, index) => {
    const { promise, resolve: start } = Promise.withResolvers<() => Promise<void>>()
    describe(names[index], () => {
      const loaded = Promise.withResolvers<void>()
      // Bound to the suite, which is how the tests of the file get into it.
      const load = AsyncResource.bind(() => import(resolve(root, file)))
      start(() => load().then(loaded.resolve, loaded.reject))
      return loaded.promise
    })
    return promise
  })
  // One at a time: while two files load together, a test of one could get into the suite of the other.
  for (const load of loads) await (await load)()
  for (const tracker of trackers) tracker.disable()
}

/**
 * Catches the hooks by which the runner follows all promises of the process. By them a test or a hook
 * finds its suite while files are loaded. Afterwards they are of no use, and each promise costs twenty
 * times as much with them.
 */
function catchTrackers(): AsyncHook[] {
  const caught: AsyncHook[] = []
  const hooks: { createHook: typeof createHook } = createRequire(import.meta.url)(
    'node:async_hooks',
  )
  const create = hooks.createHook
  hooks.createHook = (callbacks) => {
    const hook = create(callbacks)
    caught.push(hook)
    return hook
  }
  return caught
}

const tell = (error: unknown) => process.stderr.write(`${inspect(error)}\n`)

/**
 * Fails a process that does not end by itself, where the whole run would wait for ever. Node's own
 * `--test-force-exit` ends it at once and loses results on the way (nodejs/node#64833).
 */
function failOpen(): void {
  const open = process.getActiveResourcesInfo().join(', ')
  process.stderr.write(`All tests have run, and something is still open: ${open}\n`)
  process.exit(1)
}
