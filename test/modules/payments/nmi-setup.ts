import type { TestContext } from 'node:test'
import type { BreakerOptions } from '../../../src/modules/payments/adapters/breaker.ts'
import { openNmiGateways } from '../../../src/modules/payments/adapters/nmi/gateway.ts'
import { startNmi } from '../../harness/nmi.ts'
import { CARDS, chargeOf } from './setup.ts'

export const KEY = 'the-security-key-of-acme-at-nmi!'

interface Options {
  totalMs?: number
  connectMs?: number
  breaker?: BreakerOptions
  securityKey?: string | null
}

/** A gateway for acme, and the server it talks to. */
export async function openNmi(t: TestContext, { securityKey = KEY, ...options }: Options = {}) {
  const nmi = await startNmi(KEY)
  const gateways = openNmiGateways(nmi.url, { breaker: { failuresMax: 1_000 }, ...options })
  t.after(() => Promise.all([gateways.close(), nmi.close()]))
  return { nmi, gateways, gateway: gateways.open({ securityKey, tenant: 'acme' }) }
}

export const charge = (more = {}) => chargeOf(CARDS.approves, more)
