import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'

/** A request of a flood, as it is sent. */
export interface FloodRequest {
  url: string
  method: 'GET' | 'POST' | 'PUT'
  headers: Record<string, string>
  body?: string
}

export interface Flood {
  requests: readonly FloodRequest[]
  clients: number
  /** How long each client waits after an answer; without it, it does not wait. */
  pauseMs?: number
}

export type FloodMessage = ({ kind: 'start' } & Flood) | { kind: 'stop' }

/** How often each status was answered; `failed` where there was no answer. */
export type Statuses = Record<string, number>

export interface Flooder {
  /** Floods with requests, in turn, for as long as the work takes. */
  during<T>(flood: Flood, work: () => Promise<T>): Promise<{ statuses: Statuses; result: T }>
}

/**
 * Starts a process that floods a server when it is told to. By default it takes the time that others leave.
 * `address` is the one of this machine that it comes from.
 */
export function openFlooder(
  t: TestContext,
  { priority = 19, address = '127.0.0.1' } = {},
): Flooder {
  const child = fork(new URL('flood-process.ts', import.meta.url), [String(priority), address])
  t.after(() => child.kill('SIGKILL'))
  const tell = (message: FloodMessage) => child.send(message)
  return {
    async during(flood, work) {
      tell({ kind: 'start', ...flood })
      const result = await work()
      const answered = once(child, 'message')
      tell({ kind: 'stop' })
      const [statuses] = (await answered) as [Statuses]
      return { statuses, result }
    },
  }
}
