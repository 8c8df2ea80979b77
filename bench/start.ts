import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Figure } from './figure.ts'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))

interface Started {
  child: ChildProcess
  seconds: number
}

/** Starts the process and waits until `/readyz` answers 200. */
async function start(dataDir: string): Promise<Started> {
  const began = performance.now()
  const port = 20_000 + Math.floor(Math.random() * 20_000)
  const child = spawn(process.execPath, [MAIN, 'serve'], {
    env: { ...process.env, DATA_DIR: dataDir, PORT: String(port), LOG_LEVEL: 'error' },
    stdio: 'ignore',
  })
  for (;;) {
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (ready) return { child, seconds: (performance.now() - began) / 1_000 }
    if (child.exitCode !== null) throw new Error('the process ended before it was ready')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

async function stop({ child }: Started) {
  child.kill()
  await once(child, 'exit')
}

/** From the command to a ready process, on a new data directory and on one that exists. */
export async function startToReady(dataDir: string): Promise<Figure[]> {
  const first = await start(dataDir)
  await stop(first)
  const later: number[] = []
  for (let i = 0; i < 3; i++) {
    const again = await start(dataDir)
    later.push(again.seconds)
    await stop(again)
  }
  const again = later.toSorted((a, b) => a - b)[1] ?? 0
  return [
    bounded('start to ready, new data directory', first.seconds, 6, 's'),
    bounded('start to ready, existing data directory', again, 2, 's'),
  ]
}

const IDLE_MS = 10_000

/** The memory of the process after it was idle for a while. */
export async function idleMemory(dataDir: string): Promise<Figure> {
  const started = await start(dataDir)
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
  const status = await readFile(`/proc/${started.child.pid}/status`, 'utf8')
  await stop(started)
  const megabytes = Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1_024
  return bounded('idle memory without PostgreSQL', megabytes, 150, 'MB')
}

const bounded = (name: string, value: number, max: number, unit: string): Figure => ({
  name,
  ours: `${value.toFixed(2)} ${unit}`,
  floor: `at most ${max} ${unit}`,
  holds: value <= max,
})
