import { setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import type { Flood, FloodMessage } from './flood.ts'

/**
 * A process that floods: each of its clients sends one request after another. An attacker has machines of
 * their own, so this one takes only the time that the others leave, unless it is told otherwise.
 */

setPriority(Number(process.argv[2]))

let flooding = 0
/** The statuses of the flood that runs; an answer that comes after its end is not counted. */
let statuses: Record<string, number> = {}

async function flood({ requests: sent, clients, pauseMs = 0 }: Flood): Promise<void> {
  const round = ++flooding
  const counts: Record<string, number> = {}
  statuses = counts
  const localAddress = process.argv[3] ?? '127.0.0.1'
  const agent = new Agent({ connections: clients, pipelining: 1, localAddress })
  const client = async (who: number) => {
    for (let at = who; round === flooding; at++) {
      const { url, ...options } = sent[at % sent.length] ?? { url: '', method: 'GET', headers: {} }
      await request(url, { ...options, dispatcher: agent }).then(
        async ({ statusCode, body }) => {
          counts[statusCode] = (counts[statusCode] ?? 0) + 1
          await body.dump({ limit: Number.POSITIVE_INFINITY })
        },
        () => {
          counts.failed = (counts.failed ?? 0) + 1
        },
      )
      if (pauseMs > 0) await sleep(pauseMs)
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, who) => client(who)))
  await agent.destroy()
}

process.on('message', (message: FloodMessage) => {
  if (message.kind === 'start') void flood(message)
  else {
    flooding++
    process.send?.(statuses)
  }
})
