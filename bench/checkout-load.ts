import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { Agent, request } from 'undici'

/** What a checkout buys: one unit of each variant. */
export interface Offer {
  tenant: string
  variants: readonly string[]
}

export interface CheckoutLoad {
  url: string
  storefrontToken: string
  /** Called for each checkout. */
  pick: () => Offer
  seconds: number
  clients: number
}

export interface Checkouts {
  orders: number
  perSecond: number
  p50: number
  p99: number
}

/** Places orders by card for some seconds, each client one after another. */
export async function loadCheckouts(load: CheckoutLoad): Promise<Checkouts> {
  const { url, storefrontToken, pick, seconds, clients } = load
  const agent = new Agent({ connections: clients })
  const took: number[] = []
  const began = performance.now()
  const client = async (who: number) => {
    while (performance.now() < began + seconds * 1_000) {
      const { tenant, variants } = pick()
      const sent = performance.now()
      await placeOrder(agent, `${url}/v1/tenants/${tenant}/checkout`, storefrontToken, {
        customer_ref: `shopper-${who}-${took.length}`,
        items: variants.map((variant_id) => ({ variant_id, quantity: 1 })),
        card: { ccnumber: '4111111111111111', ccexp: '10/40', cvv: '999' },
      })
      took.push(performance.now() - sent)
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, who) => client(who)))
  const perSecond = took.length / ((performance.now() - began) / 1_000)
  await agent.close()
  took.sort((a, b) => a - b)
  const at = (share: number) => took[Math.floor(took.length * share)] ?? 0
  return { perSecond, p50: at(0.5), p99: at(0.99), orders: took.length }
}

const PATIENCE_MS = 30_000

/**
 * Sends one order until it is placed. After a 503 it is sent again with the same key, as the message
 * says: where another program takes the processor for a moment, that order waits longer, and the run
 * goes on.
 */
async function placeOrder(
  dispatcher: Agent,
  url: string,
  storefrontToken: string,
  order: object,
): Promise<void> {
  const headers = {
    'content-type': 'application/json',
    'x-storefront-token': storefrontToken,
    'idempotency-key': randomUUID(),
  }
  const began = performance.now()
  for (;;) {
    const sent = { dispatcher, method: 'POST', headers, body: JSON.stringify(order) } as const
    const { statusCode, body } = await request(url, sent)
    const text = await body.text()
    if (statusCode === 201) return
    if (statusCode !== 503 || performance.now() > began + PATIENCE_MS) throw new Error(text)
    await setTimeout(100)
  }
}
