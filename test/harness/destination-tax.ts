import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { TaxQuestion } from '../../src/modules/pricing/tax.ts'

/** A tax provider whose rate depends on the destination, and which taxes the shipping too. */

const RATES_BPS: Readonly<Record<string, number>> = { ME: 550, TX: 825, OR: 0 }

export interface DestinationTax {
  env: { TAX_PROVIDER_URL: string }
  /** The destinations that were asked about. */
  asked: (TaxQuestion['ship_to'] | null)[]
  /** Refuses questions without an address, as many providers do. */
  needsAddress: boolean
  /** The state whose rate holds without an address. */
  estimate: string
}

const taxOf = (question: TaxQuestion, state: string): number => {
  const base = question.lines.reduce((sum, line) => sum + line.amount_cents, 0)
  const taxed = base + question.shipping_cents
  const rate = RATES_BPS[state] ?? 0
  const share = question.prices_include_tax ? rate / (10_000 + rate) : rate / 10_000
  return Math.round(taxed * share)
}

export async function openDestinationTax(t: Pick<TestContext, 'after'>): Promise<DestinationTax> {
  const server = createServer(async (request, response) => {
    const question = JSON.parse((await Array.fromAsync(request)).join('')) as TaxQuestion
    provider.asked.push(question.ship_to)
    if (question.ship_to === null && provider.needsAddress) response.statusCode = 400
    const state = question.ship_to === null ? provider.estimate : String(question.ship_to.state)
    response.end(JSON.stringify({ tax_cents: taxOf(question, state) }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const provider: DestinationTax = {
    env: { TAX_PROVIDER_URL: `http://127.0.0.1:${port}/quote` },
    asked: [],
    needsAddress: false,
    estimate: 'OR',
  }
  return provider
}

export const addressIn = (state: string, country = 'US') => ({
  label: 'Ann',
  name: 'Ann',
  line1: '1 Main Street',
  line2: null,
  city: 'Somewhere',
  state,
  postal_code: '04101',
  country,
})
