import type { FastifyReply } from 'fastify'
import { machineNow } from '../../kernel/clock.ts'
import type { SessionStarted } from './schema.ts'

const cookie = (value: string, maxAgeSeconds: number) =>
  `__Host-fd_session=${value}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}`

/** Gives a browser the session, for as long as it lasts. */
export function setSession(reply: FastifyReply, { session }: SessionStarted): FastifyReply {
  const left = Math.floor((Date.parse(session.expires_at) - machineNow()) / 1_000)
  return reply.header('set-cookie', cookie(session.token, left))
}

/** Takes the session from a browser. */
export const clearSession = (reply: FastifyReply): FastifyReply =>
  reply.header('set-cookie', cookie('', 0))
