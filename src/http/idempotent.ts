import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorCode } from '../errors.ts'
import type { StoredAnswer, WonClaim } from '../platform/idempotency.ts'
import { fingerprint, readKey } from '../platform/idempotency-key.ts'
import { run } from '../platform/idempotency-run.ts'

interface OnceOptions {
  operation: string
  /** Keys the fingerprint of the body. */
  secret: Buffer
  /** The part of the path that belongs to the request, e.g. the id of the order to refund. */
  target?: string
  /**
   * Refusals that a retry may not meet again: they are not stored, and the key can be used again.
   */
  passing?: readonly ErrorCode[]
  /**
   * Completes a stored body just before it is sent with a secret that must not be stored in it, and
   * that is shown for a limited time. The first answer goes the same way as its replays.
   */
  fill?: (answer: { status: number; body: string }) => Promise<string>
}

/**
 * For routes that move money: runs the operation once for each Idempotency-Key, and sends the
 * stored answer.
 */
export async function once(
  request: FastifyRequest,
  reply: FastifyReply,
  { operation, secret, target, passing = [], fill }: OnceOptions,
  work: (claim: WonClaim) => Promise<StoredAnswer>,
): Promise<never> {
  const key = readKey(request.headers['idempotency-key'])
  const print = fingerprint(secret, request.body, target)
  const claim = { operation, key, fingerprint: print, correlationId: request.id, passing }
  const { status, headers, body } = await run(request.db, claim, work)
  const sent = fill === undefined ? body : await fill({ status, body })
  // The bytes were written when the operation ended; the route's shapes no longer apply to them.
  return reply.code(status).headers(headers).send(sent) as never
}
