import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The resources a server has used so far. */
export interface Usage {
  cpuSeconds: number
  megabytes: number
  /** The maximum so far. */
  peakMegabytes: number
}

export interface Server {
  url: string
  usage(): Promise<Usage>
  stop(): Promise<void>
}

/** Starts one of the benchmark's servers, of this commit or another, as a process of its own. */
export async function startServer(
  file: string | URL,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Server> {
  const child = fork(new URL(file, import.meta.url), args, { env: { ...process.env, ...env } })
  const [{ url }] = (await once(child, 'message')) as [{ url: string }]
  return {
    url,
    async usage() {
      child.send('usage')
      const [usage] = (await once(child, 'message')) as [Usage]
      return usage
    },
    async stop() {
      child.kill()
      await once(child, 'exit')
    },
  }
}

/**
 * In a server: sends the benchmark its address, and its resource use whenever that is requested.
 */
export function report(url: string): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    const megabytes = process.memoryUsage.rss() / 1_024 / 1_024
    const peakMegabytes = process.resourceUsage().maxRSS / 1_024
    process.send?.({ cpuSeconds: (user + system) / 1e6, megabytes, peakMegabytes } satisfies Usage)
  })
  process.send?.({ url })
}

export interface Target {
  url: string
  headers?: Record<string, string>
  connections?: number
  seconds?: number
  /** A Lua script for `wrk`, which chooses the requests. */
  script?: string
}

/** Requests per second by `wrk`. Refuses to count responses that are not 2xx or 3xx. */
export async function measure(target: Target) {
  const { url, headers = {}, connections = 32, seconds = 5, script } = target
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`]
  for (const [name, value] of Object.entries(headers)) args.push('-H', `${name}: ${value}`)
  if (script !== undefined) args.push('-s', script)
  const { stdout } = await run('wrk', [...args, url])
  if (/Non-2xx/.test(stdout)) throw new Error(`${url} did not answer 2xx:\n${stdout}`)
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1])
}

/**
 * Our throughput as a share of the floor's. Both run alternately, so that a noisy minute affects
 * both, and the median of the rounds counts.
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
