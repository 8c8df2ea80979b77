import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorCode } from '../errors.ts'
import type { StoredAnswer, WonClaim } from '../platform/idempotency.ts'
import { fingerprint, readKey } from '../platform/idempotency-key.ts'
import { run } from '../platform/idempotency-run.ts'

interface OnceOptions {
  operation: string
  /** Keys the fingerprint of the body. */
  secret: Buffer
  /** What of the path belongs to the request, e.g. the id of the order to refund. */
  target?: string
  /** Refusals that pass by themselves: the key stays free. */
  passing?: readonly ErrorCode[]
  /**
   * Puts into a kept body what must not be kept with it, just before it is sent: a secret that is
   * shown at first and for a while. The first answer takes the same way as its replays.
   */
  fill?: (answer: { status: number; body: string }) => Promise<string>
}

/** For money routes: does the work once for each Idempotency-Key, and sends what was kept. */
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
  // The bytes were made when the work was done; the route's shapes no longer matter to them.
  return reply.code(status).headers(headers).send(sent) as never
}
