import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { DEMO_REFS, type Demo, LAST_REF, readDemo } from './demo-file.ts'
import * as stores from './modules/stores/service.ts'
import type { Runtime } from './runtime.ts'

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url))

interface Opener {
  logger: Logger
  closers: (() => Promise<unknown>)[]
}

/**
 * Creates the demo stores if they are missing, and waits until they are filled, so that their addresses are printed
 * only when they have something to show. Returns null if the installation has stores of its own.
 */
export async function openDemo(opener: Opener, runtime: Runtime): Promise<Demo | null> {
  const { config } = runtime
  if (await isComplete(runtime)) return readDemo(config)
  if (config.NODE_ENV !== 'development') {
    const { seedDemo } = await import('./demo.ts')
    return seedDemo(runtime)
  }
  process.stdout.write('\n  Filling the demo stores with products, once: half a minute.\n')
  await seedAside(opener)
  const demo = await readDemo(config)
  return demo?.merchant_key ? demo : null
}

/** Lists the names of the demo stores that exist, filled or not. */
export async function listDemoStores({ database }: Runtime): Promise<string[]> {
  const found = await Promise.all(DEMO_REFS.map((ref) => stores.find(database.tenant(ref))))
  return found.flatMap((store) => (store === null ? [] : [store.tenant_ref]))
}

/** Whether the demo stores are filled. */
export async function isStocked({ database }: Runtime): Promise<boolean> {
  const last = await stores.find(database.tenant(LAST_REF))
  return last !== null && last.status !== 'draft'
}

/** Whether nothing is left to do for the demo. An installation with stores of its own gets none. */
async function isComplete(runtime: Runtime): Promise<boolean> {
  const { config, operatorDatabase } = runtime
  const { total } = await stores.list(operatorDatabase.allStores, {}, { limit: 1, offset: 0 })
  const demo = await readDemo(config)
  if (demo === null || total === 0) return total > 0
  if (demo.merchant_key === '' || demo.gift_card === undefined) return false
  return config.NODE_ENV !== 'development' || isStocked(runtime)
}

/**
 * Fills the demo stores in a process of its own, which then ends: otherwise the code that draws the images and the
 * word lists that scan the texts would stay in this process's memory.
 */
async function seedAside({ logger, closers }: Opener): Promise<void> {
  const { fork } = await import('node:child_process')
  const child = fork(MAIN, ['seed'], { stdio: 'inherit' })
  const ended = new Promise<void>((resolve) => {
    child.once('exit', (code) => {
      if (code)
        logger.warn({ code }, 'the demo stores could not be filled; the next start tries again')
      resolve()
    })
  })
  closers.push(() => {
    child.kill()
    return ended
  })
  await ended
}
