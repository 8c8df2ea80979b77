import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorCode } from '../error-codes.ts'
import type { KeepAnswer, StoredAnswer, WonClaim } from '../platform/idempotency.ts'
import * as idempotency from '../platform/idempotency.ts'
import { fingerprint, readKey } from '../platform/idempotency-key.ts'
import { run } from '../platform/idempotency-run.ts'
import { sentBody } from './known-members.ts'

interface OnceOptions {
  operation: string
  /** Keys the fingerprint of the body. */
  secret: Buffer
  /** The part of the path that the request is about, e.g. the id of the order to refund. */
  target?: string
  /** Refusals that may not apply to a later request: they are not stored, and the key can be used again. */
  passing?: readonly ErrorCode[]
  /**
   * Completes a stored body, just before it is sent, with a secret that must not be stored and is shown for a limited
   * time. The first answer is completed in the same way as its replays.
   */
  fill?: (answer: { status: number; body: string }) => Promise<string>
}

/** Runs an operation once for each Idempotency-Key and sends its stored answer: for routes that move money. */
export async function once(
  request: FastifyRequest,
  reply: FastifyReply,
  { operation, secret, target, passing = [], fill }: OnceOptions,
  work: (claim: WonClaim) => Promise<StoredAnswer>,
): Promise<never> {
  const key = readKey(request.headers['idempotency-key'])
  const print = fingerprint(secret, sentBody(request), target)
  const claim = { operation, key, fingerprint: print, correlationId: request.id, passing }
  const { status, headers, body } = await run(request.db, claim, work)
  const sent = fill === undefined ? body : await fill({ status, body })
  // The bytes were written when the operation ended; the route's shapes no longer apply to them.
  return reply.code(status).headers(headers).send(sent) as never
}

/**
 * Runs the work of a route that takes a key but does not need one. With a key the work is done once, as by `once`,
 * and stores its answer in its own transaction; without a key it is done each time.
 */
export async function onceIfKeyed(
  request: FastifyRequest,
  reply: FastifyReply,
  { status = 200, ...options }: OnceOptions & { status?: number },
  work: (keep: KeepAnswer) => Promise<unknown>,
): Promise<never> {
  if (request.headers['idempotency-key'] === undefined) {
    return reply.code(status).send(await work(async () => {})) as never
  }
  return once(request, reply, options, async (claim) => {
    let answer: StoredAnswer | null = null
    await work(async (tx, body) => {
      answer = await idempotency.finish(tx, claim, status, JSON.stringify(body))
    })
    if (answer === null) throw new Error(`the ${options.operation} has kept no answer`)
    return answer
  })
}
