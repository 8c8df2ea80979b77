import { type Static, Type } from 'typebox'
import { ApiError } from '../../errors.ts'
import type { Priced } from './price.ts'
import type { TaxPolicy } from './schema.ts'

/** The request to a tax provider: the goods after the discount, and their destination. */
export interface TaxQuestion {
  currency: string
  lines: readonly { variant_id: string; quantity: number; amount_cents: number }[]
  shipping_cents: number
  /** Whether the amounts have the tax inside. The provider then returns the tax that they contain. */
  prices_include_tax: boolean
  ship_to: Record<string, unknown> | null
}

/** The question about the tax of an order, by its prices without one. Gift cards are not taxed. */
export const taxQuestion = (
  { currency, lines, shipping_cents }: Priced<UntaxedLine>,
  destination: Pick<TaxQuestion, 'prices_include_tax' | 'ship_to'>,
): TaxQuestion => ({
  currency,
  lines: lines
    .filter(({ gift_card }) => !gift_card)
    .map(({ variant_id, quantity, line_total_cents, discount_cents }) => ({
      variant_id,
      quantity,
      amount_cents: line_total_cents - discount_cents,
    })),
  shipping_cents,
  ...destination,
})

interface UntaxedLine {
  variant_id: string
  quantity: number
  gift_card?: boolean
}

/**
 * Computes the tax of an order, in cents. `provider` is the name in the policy, such as `acme_tax`.
 */
export type TaxProvider = (provider: string, question: TaxQuestion) => Promise<number>

/** The tax as `priceOrder` takes it: a rate, or the amount that a provider has computed. */
export type Tax = { tax: { rate_bps: number } | null; tax_override?: number }

/**
 * Resolves a tax policy to a rate or an amount. It asks the provider only where the policy names
 * one. It must run before any transaction begins, since it may call the network.
 */
export async function resolveTax(
  provider: TaxProvider | null,
  policy: TaxPolicy | null,
  question: TaxQuestion,
): Promise<Tax> {
  const named = policy?.provider ?? 'null'
  if (policy === null || named === 'null') return { tax: null }
  if (named === 'flat_rate') return { tax: { rate_bps: policy.rate_bps } }
  if (provider === null) throw new ApiError('tax_provider_unavailable')
  return { tax: null, tax_override: await provider(named, question) }
}

/** Returns the rate of a policy, for answers; null if no rate is known: for no tax, or for that of a provider. */
export const rateOf = (policy: TaxPolicy | null | undefined): number | null =>
  policy?.provider === 'flat_rate' ? policy.rate_bps : null

/** How long a provider may take. Shoppers wait for the tax, so the limit is far below that of a payment. */
const TIMEOUT_MS = 3_000

/** The most bytes of a provider's response: more than one number needs. */
const ANSWER_BYTES_MAX = 64 * 1_024

const TaxResponse = Type.Object({ tax_cents: Type.Integer({ minimum: 0 }) })

interface Endpoint {
  url: string
  key?: string | undefined
  timeoutMs?: number
}

/**
 * Creates the provider behind the operator's `TAX_PROVIDER_URL`: one POST, with `{tax_cents}` as its response.
 * The address is the operator's own and may be private, so the rules for URLs of merchants do not apply. The
 * response is checked in any case.
 */
export const httpTaxProvider =
  ({ url, key, timeoutMs = TIMEOUT_MS }: Endpoint): TaxProvider =>
  async (provider, question) => {
    try {
      const answer = await post(url, key, { provider, ...question }, timeoutMs)
      return await checkResponse(answer, question)
    } catch (cause) {
      throw new ApiError('service_unavailable', {
        message: 'The tax provider gave no usable answer. Try again in a moment.',
        cause,
        kind: 'upstream',
      })
    }
  }

/** Imports `undici` with the first request: most installations never send one. */
async function post(url: string, key: string | undefined, body: unknown, timeoutMs: number) {
  const signal = AbortSignal.timeout(timeoutMs)
  const { request } = await import('undici')
  const answer = await request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify(body),
    signal,
  })
  if (answer.statusCode !== 200) {
    await answer.body.dump({ limit: ANSWER_BYTES_MAX, signal })
    throw new Error(`the tax provider answered ${answer.statusCode}`)
  }
  return readJson(answer.body)
}

async function readJson(body: AsyncIterable<Buffer>): Promise<unknown> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > ANSWER_BYTES_MAX) throw new Error("the tax provider's answer is too long")
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    // Its message would quote the answer in a log line.
    throw new Error("the tax provider's answer is no JSON")
  }
}

/** Refuses a tax above the taxed amount: such a response is an error of the provider. */
async function checkResponse(answer: unknown, { lines, shipping_cents }: TaxQuestion) {
  const { Value } = await import('typebox/value')
  if (!Value.Check(TaxResponse, answer))
    throw new Error("the tax provider's answer has another shape")
  const { tax_cents }: Static<typeof TaxResponse> = answer
  const base = lines.reduce((total, { amount_cents }) => total + amount_cents, shipping_cents)
  if (!Number.isSafeInteger(tax_cents) || tax_cents > base) {
    throw new Error("the tax provider's answer is out of bounds")
  }
  return tax_cents
}
