import type { FastifyRequest } from 'fastify'
import { ApiError, invalidBody } from '../errors.ts'
import { hasCardNumber } from '../kernel/card-numbers.ts'
import { quotable } from './errors.ts'
import type { App, Routes } from './route.ts'

/** The members of a body that carry a card to the gateway, or a secret that is stored as a hash. */
const EXEMPT: ReadonlySet<string> = new Set([
  'card',
  'payment_token',
  'password',
  'current_password',
  'new_password',
])

/**
 * Members that hold numbers of carriers, at any place in a body. Some of these numbers look like a card's, and a
 * parcel has no other number. Merchants type them, not shoppers.
 */
const OF_CARRIERS: ReadonlySet<string> = new Set(['tracking_number', 'tracking_url', 'label_url'])

const WHY = 'looks like a card number; send card numbers in `card` alone'

/**
 * Refuses card numbers in every text that a request could store: the body, the path and the Idempotency-Key. They
 * would otherwise be stored unencrypted, in orders, feeds and stored answers. The hook stands before all routes, so
 * that a new route has it (decision 0027).
 */
export function refuseCardNumbers(app: App): void {
  app.addHook('preValidation', async (request) => {
    const { acceptsAnyDigits, idempotent } = request.routeOptions.config
    if (acceptsAnyDigits || !WRITES.includes(request.method)) return
    if (idempotent && hasCardNumber(String(request.headers['idempotency-key'] ?? ''))) {
      throw new ApiError('idempotency_key_invalid', {
        message: 'The Idempotency-Key looks like a card number. Send another key.',
      })
    }
    refuseInPath(request)
    const path = findCardPath(request.body, [])
    if (path !== null) throw invalidBody(path.map(quotable).join('.'), WHY)
  })
}

/**
 * The methods whose texts are searched. Reads store nothing, and a customer whose stored name looks like a card
 * number must still be found.
 */
const WRITES = ['POST', 'PUT', 'PATCH']

function refuseInPath({ params }: FastifyRequest): void {
  const values = Object.values((params ?? {}) as Record<string, string>)
  if (!values.some(hasCardNumber)) return
  throw new ApiError('invalid_request', { message: `A part of the path ${WHY}.` })
}

/** Finds the first member whose text has a card number; null without one. The parser has bounded the depth. */
function findCardPath(value: unknown, path: readonly string[]): readonly string[] | null {
  if (typeof value === 'string') return hasCardNumber(value) ? path : null
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return null
  for (const [name, member] of Object.entries(value)) {
    if ((path.length === 0 && EXEMPT.has(name)) || OF_CARRIERS.has(name)) continue
    const found = findCardPath(member, [...path, name])
    if (found !== null) return found
  }
  return null
}

/**
 * Routes whose texts may be any digits: catalogs and sites of merchants are full of barcodes and article
 * numbers, and a person who was stored under such a number must be erasable.
 */
export const acceptAnyDigits = (routes: Routes): Routes =>
  async function anyDigits(app) {
    await app.register(async (inner) => {
      inner.addHook('onRoute', (route) => {
        route.config = { ...route.config, acceptsAnyDigits: true }
      })
      await routes(inner)
    })
  }
