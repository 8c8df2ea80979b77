import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { pino } from 'pino'
import { STOREFRONT_TOKEN } from '../../harness/app.ts'
import { dumpText } from '../../harness/superuser.ts'
import { cart, openCheckoutApp, openShop } from './setup.ts'

const CHECKOUTS = process.env.LONG === '1' ? 2_000 : 100

/** A unique card number with a valid check digit. */
function cardNumber(n: number): string {
  const body = `4${String(730_000_000_000_000 + n * 7_919).slice(0, 14)}`
  const digits = [...body].map(Number).toReversed()
  const sum = digits.reduce((total, digit, i) => {
    const doubled = i % 2 === 0 ? digit * 2 : digit
    return total + (doubled > 9 ? doubled - 9 : doubled)
  }, 0)
  return `${body}${(10 - (sum % 10)) % 10}`
}

const spaced = (number: string) => number.replace(/(\d{4})(?=\d)/g, '$1 ')
const dashed = (number: string) => number.replace(/(\d{4})(?=\d)/g, '$1-')

/** Encodings in which a number could be stored. */
const disguises = (text: string) => [
  text,
  createHash('sha256').update(text).digest('hex'),
  createHash('sha1').update(text).digest('hex'),
  createHash('md5').update(text).digest('hex'),
  createHash('sha256').update(text).digest('base64'),
  Buffer.from(text).toString('base64'),
  Buffer.from(text).toString('base64url'),
  Buffer.from(text).toString('hex'),
]

test('no card number and no CVV is found anywhere afterwards', async (t) => {
  const log: string[] = []
  const logger = pino({ level: 'trace' }, { write: (line: string) => void log.push(line) })
  const app = await openCheckoutApp(t, { logger })
  const shop = await openShop(app)
  const answers: string[] = []
  const post = async (path: string, body: string) => {
    const answer = await fetch(`${app.url}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-storefront-token': STOREFRONT_TOKEN,
        'idempotency-key': randomUUID(),
      },
      body,
    })
    const text = await answer.text()
    answers.push(text, JSON.stringify([...answer.headers]))
    return answer.status
  }
  // Longer than a real CVV, so that it cannot occur by chance.
  const cvvOf = (n: number) => String(7_000 + (n % 2_999))
  const secrets: string[] = []
  const send = async (n: number) => {
    const number = cardNumber(n)
    secrets.push(number)
    const written = [number, spaced(number), dashed(number)][n % 3]
    const card = { ccnumber: written, ccexp: '10/40', cvv: cvvOf(n) }
    const good = cart(shop.variants[1_000], { customer_ref: `c${n}`, card })
    const text = JSON.stringify(good)
    const status = await post('/v1/tenants/acme/checkout', text)
    assert.equal(status, 201, `${written} ${answers.at(-2)}`)
    if (n % 8 > 0) return
    const wrong = [
      text.slice(0, -3),
      `${text.slice(0, -1)},}`,
      JSON.stringify({ ...good, card: { ...card, ccnumber: `${number}9` } }),
      JSON.stringify({ ...good, card: number }),
      JSON.stringify({ ...good, card: { ccnumber: Number(number), ccexp: '10/40' } }),
      JSON.stringify({ ...good, items: [{ variant_id: number, quantity: number }] }),
      JSON.stringify({ ...good, items: [{ variant_id: number, quantity: 1 }] }),
      JSON.stringify({ ...good, coupon_code: number }),
      JSON.stringify({ ...good, gift_card_code: number }),
      JSON.stringify({ ...good, email: number, ip: 7 }),
      JSON.stringify({ ...good, quote_token: number }),
      JSON.stringify({ ...good, tax: { provider: number, rate_bps: cvvOf(n) } }),
      JSON.stringify({ ...good, [number]: { cvv: cvvOf(n) } }).slice(1),
    ]
    for (const body of wrong) await post('/v1/tenants/acme/checkout', body)
    await post(`/v1/tenants/acme/checkout?card=${number}`, text.slice(1))
  }
  for (let n = 0; n < CHECKOUTS; n += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, i) => send(n + i)))
  }
  const places = {
    'the tables': await dumpText(app.superuser),
    'the log': log.join(''),
    'the answers': answers.join('\n'),
  }
  assert.ok(places['the log'].length > 10_000, 'the log was written')
  for (const [where, text] of Object.entries(places)) {
    const digits = text.replace(/(?<=\d)[ -](?=\d)/g, '')
    for (const secret of secrets) {
      assert.ok(!digits.includes(secret), `${where}: ${secret}`)
      for (const each of disguises(secret)) assert.ok(!text.includes(each), `${where}: ${each}`)
      for (const each of disguises(spaced(secret)))
        assert.ok(!text.includes(each), `${where}: ${each}`)
    }
    assert.ok(!/"cvv"\s*:\s*"\d/.test(text), `${where}: a security code`)
    assert.ok(!/cvv.{0,8}7\d{3}/i.test(text), `${where}: a security code`)
  }
})
