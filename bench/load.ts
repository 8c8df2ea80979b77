import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface Server {
  url: string
  stop(): Promise<void>
}

/** Starts one of the benchmark's servers as a process of its own. */
export async function startServer(file: string, args: readonly string[]): Promise<Server> {
  const child = fork(new URL(file, import.meta.url), args)
  const [{ url }] = (await once(child, 'message')) as [{ url: string }]
  return {
    url,
    async stop() {
      child.kill()
      await once(child, 'exit')
    },
  }
}

interface Target {
  url: string
  headers?: Record<string, string>
  connections?: number
  seconds?: number
}

/** Requests per second by `wrk`. Refuses to count answers that are not 2xx. */
export async function measure({ url, headers = {}, connections = 32, seconds = 5 }: Target) {
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`]
  for (const [name, value] of Object.entries(headers)) args.push('-H', `${name}: ${value}`)
  const { stdout } = await run('wrk', [...args, url]).catch((error) => {
    if (error.code === 'ENOENT') throw new Error('the benchmark needs wrk; install it first')
    throw error
  })
  if (/Non-2xx/.test(stdout)) throw new Error(`${url} did not answer 2xx:\n${stdout}`)
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1])
}

/**
 * How much of the floor we reach. Both run in turn, so that a noisy minute falls on both, and the
 * median of the rounds counts.
 */
export async function ratio(floor: Target, ours: Target, rounds = 5) {
  await measure({ ...floor, seconds: 2 })
  await measure({ ...ours, seconds: 2 })
  const pairs: { floor: number; ours: number; ratio: number }[] = []
  for (let i = 0; i < rounds; i++) {
    const pair = { floor: await measure(floor), ours: await measure(ours) }
    pairs.push({ ...pair, ratio: pair.ours / pair.floor })
  }
  return pairs.toSorted((a, b) => a.ratio - b.ratio)[Math.floor(rounds / 2)] ?? pairs[0]
}
