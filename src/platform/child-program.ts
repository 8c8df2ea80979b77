import { writeFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import type { ChildBounds, ChildReply, ChildRequest } from './child-pool.ts'

/** The program of a process in a `ChildPool`: it does the jobs that its parent sends, one at a time. */

/** How long between two checks of a job's use: memory grows by some tens of megabytes meanwhile. */
const WATCH_MS = 25

const MEBIBYTE = 1_024 * 1_024

/** Ends this process at once: an ordinary exit would wait for the job. */
const endNow = () => process.kill(process.pid, 'SIGKILL')

const send = (reply: ChildReply<unknown>, then = () => {}) =>
  process.send?.(reply, undefined, {}, then)

/**
 * Ends this process when a job uses more CPU time or memory than it may. It is CPU time and not elapsed time: a job
 * must not be refused because the machine was busy. Returns a function that ends the watch and returns the CPU time
 * that was used.
 */
function watch({ cpuMs, memoryMb }: ChildBounds): () => number {
  const before = process.cpuUsage()
  const usedMs = () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  }
  const timer = setInterval(() => {
    const isOver = usedMs() > cpuMs || process.memoryUsage.rss() > memoryMb * MEBIBYTE
    if (!isOver) return
    clearInterval(timer)
    send({ kind: 'too_costly', cpuMs: usedMs() }, endNow)
  }, WATCH_MS)
  return () => {
    clearInterval(timer)
    return usedMs()
  }
}

/**
 * Serves the jobs of the parent process, and ends with it. An error that `perform` throws ends the process, too: a
 * fault that a caller should know about is a reply.
 */
export function serveJobs<Job, Reply>(perform: (job: Job) => Promise<Reply>): void {
  process.on('message', async (request: ChildRequest<Job>) => {
    const stop = watch(request)
    const reply = await perform(request.job)
    send({ kind: 'done', reply, cpuMs: stop() })
  })
  process.on('disconnect', endNow)
  // A terminal sends Ctrl-C to this process, too. The process ends with its parent, which may finish its work first.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

  // Requests go before jobs. The operator's machine may forbid either setting, which is not a fault.
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
    if (process.platform === 'linux') writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {
    // The process then runs with the usual priority.
  }
}
