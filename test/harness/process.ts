import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { defer, emptyFolder } from './embedded.ts'
import { until } from './eventually.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** Long enough for a start with a new database on a machine that others use too. */
const READY_MS = 180_000

export interface TestProcess {
  child: ChildProcess
  /** Everything that it has written to stdout and stderr. */
  output(): string
  /** The address it says it is ready at. */
  ready(): Promise<{ url: string; ms: number }>
  exit: Promise<{ code: number | null; signal: NodeJS.Signals | null; ms: number }>
  kill(signal: NodeJS.Signals): void
}

interface ProcessOptions {
  role?: string
  dataDir?: string
  env?: Record<string, string>
  /** A module, as text, that is loaded before the program. */
  before?: string
  /** What starts the program in place of Node itself, such as `npm start`. */
  command?: readonly string[]
}

/** Starts the program as a separate process with its own folder. */
export async function startProcess(t: TestContext, options: ProcessOptions = {}) {
  const { role = 'serve', env = {}, before, command } = options
  const dataDir = options.dataDir ?? (await emptyFolder(t))
  const loads =
    before === undefined ? [] : ['--import', `data:text/javascript,${encodeURIComponent(before)}`]
  const began = performance.now()
  const [file, ...args] = command ?? [process.execPath, ...loads, MAIN, role]
  const child = spawn(file ?? '', args, {
    cwd: ROOT,
    // A group of its own, by which all of it can be ended.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      // Shares compiled code between the processes, as scripts/run.mjs does.
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      // Not development, which would draw images for the demo stores.
      NODE_ENV: 'test',
      DATA_DIR: dataDir,
      PORT: '0',
      LOG_LEVEL: 'warn',
      ...env,
    },
  })
  const chunks: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (c) => chunks.push(c))
  const output = () => Buffer.concat(chunks).toString()
  // When every process that writes to the output has ended, not only the first of them.
  const exit = once(child, 'close').then(([code, signal]) => ({
    code,
    signal,
    ms: performance.now() - began,
  }))
  let ended = false
  void exit.then(() => {
    ended = true
  })
  defer(t, async () => {
    if (!ended) endGroup(child)
    await exit
  })
  const self: TestProcess = {
    child,
    output,
    exit,
    kill: (signal) => void child.kill(signal),
    async ready() {
      const announced = () => /ready at (http:\S+)/.exec(output())?.[1]
      await until(
        'it says that it is ready',
        () => {
          if (child.exitCode !== null) throw new Error(`it ended: ${output()}`)
          return announced() !== undefined
        },
        READY_MS,
      )
      return { url: announced() ?? '', ms: performance.now() - began }
    },
  }
  return self
}

/** Ends the process and what it started, even where the first of them is gone already. */
function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGTERM')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
