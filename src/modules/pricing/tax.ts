import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { ApiError } from '../../errors.ts'
import type { TaxPolicy } from './schema.ts'

/** What a tax provider is asked: the goods after the discount, and where they go. */
export interface TaxQuestion {
  currency: string
  lines: readonly { variant_id: string; quantity: number; amount_cents: number }[]
  shipping_cents: number
  ship_to: Record<string, unknown> | null
}

/** Works out the tax of an order, in cents. Named by the policy, such as `acme_tax`. */
export type TaxProvider = (provider: string, question: TaxQuestion) => Promise<number>

/** What the price function takes: a rate, or what a provider has worked out. */
export type Tax = { tax: { rate_bps: number } | null; tax_override?: number }

/**
 * Whatever the policy says becomes something to price with. The provider is asked only where the
 * policy names one, and before any transaction begins: it is a call over the network.
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

/** Shoppers wait for it, so it must not take as long as a payment may. */
const TIMEOUT_MS = 3_000

/** More than an answer of one number needs. */
const ANSWER_BYTES_MAX = 64 * 1_024

const Answer = Type.Object({ tax_cents: Type.Integer({ minimum: 0 }) })

interface Endpoint {
  url: string
  key?: string | undefined
  timeoutMs?: number
}

/**
 * The provider behind the operator's `TAX_PROVIDER_URL`: one POST, answered by `{tax_cents}`. The
 * address is the operator's own and may well be private, so it is not held to the rules for those
 * that merchants give. What it answers is held to its bounds all the same.
 */
export const httpTaxProvider =
  ({ url, key, timeoutMs = TIMEOUT_MS }: Endpoint): TaxProvider =>
  async (provider, question) => {
    try {
      const answer = await post(url, key, { provider, ...question }, timeoutMs)
      return checkAnswer(answer, question)
    } catch (cause) {
      throw new ApiError('service_unavailable', {
        message: 'The tax provider gave no usable answer. Try again in a moment.',
        cause,
        kind: 'upstream',
      })
    }
  }

/** Loaded with the first question: most installations never ask one. */
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
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}

/** No tax is more than all of what it is on: whoever says so is mistaken, and nobody pays it. */
function checkAnswer(answer: unknown, { lines, shipping_cents }: TaxQuestion): number {
  if (!Value.Check(Answer, answer)) throw new Error("the tax provider's answer has another shape")
  const { tax_cents }: Static<typeof Answer> = answer
  const base = lines.reduce((total, { amount_cents }) => total + amount_cents, shipping_cents)
  if (!Number.isSafeInteger(tax_cents) || tax_cents > base) {
    throw new Error("the tax provider's answer is out of bounds")
  }
  return tax_cents
}
