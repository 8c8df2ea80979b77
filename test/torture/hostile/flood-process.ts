import { setPriority } from 'node:os'
import { Agent, request } from 'undici'
import type { FloodMessage, FloodRequest } from './flood.ts'

/**
 * A process that floods: each of its clients sends one request after another. An attacker has machines of
 * their own, so this one takes only the time that the others leave.
 */

setPriority(19)

let flooding = 0
let statuses: Record<string, number> = {}

async function flood(sent: readonly FloodRequest[], clients: number): Promise<void> {
  const round = ++flooding
  const agent = new Agent({ connections: clients, pipelining: 1 })
  const client = async (who: number) => {
    for (let at = who; round === flooding; at++) {
      const { url, ...options } = sent[at % sent.length] ?? { url: '', method: 'GET', headers: {} }
      await request(url, { ...options, dispatcher: agent }).then(
        async ({ statusCode, body }) => {
          statuses[statusCode] = (statuses[statusCode] ?? 0) + 1
          await body.dump({ limit: Number.POSITIVE_INFINITY })
        },
        () => {
          statuses.failed = (statuses.failed ?? 0) + 1
        },
      )
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, who) => client(who)))
  await agent.destroy()
}

process.on('message', (message: FloodMessage) => {
  if (message.kind === 'start') void flood(message.requests, message.clients)
  else {
    flooding++
    process.send?.(statuses)
    statuses = {}
  }
})
