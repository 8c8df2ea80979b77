import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { ApiError } from '../../../src/errors.ts'
import { httpTaxProvider, resolveTax, type TaxQuestion } from '../../../src/modules/pricing/tax.ts'
import { createLogger } from '../../../src/platform/log.ts'

const question: TaxQuestion = {
  currency: 'USD',
  lines: [
    { variant_id: 'a', quantity: 2, amount_cents: 900 },
    { variant_id: 'b', quantity: 1, amount_cents: 100 },
  ],
  shipping_cents: 50,
  prices_include_tax: false,
  ship_to: { country: 'US', postal_code: '10001' },
}
const policy = { provider: 'acme_tax', rate_bps: 0 }

/** Long enough for a busy machine. The test of the deadline has its own limit. */
const PATIENT_MS = 60_000

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** A provider at a loopback address with the given answer. */
async function startProvider(t: TestContext, handler: Handler): Promise<string> {
  const server = createServer(handler).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/quote`
}

const failsWith = (code: string) => (error: unknown) =>
  error instanceof ApiError && error.code === code

describe('the tax policy', () => {
  test('asks no provider unless it names one', async () => {
    const asked = () => assert.fail('no provider must be asked')
    assert.deepEqual(await resolveTax(asked, null, question), { tax: null })
    for (const provider of [null, 'null']) {
      const none = { provider, rate_bps: 825 }
      assert.deepEqual(await resolveTax(asked, none, question), { tax: null })
    }
    const flat = { provider: 'flat_rate', rate_bps: 825 }
    assert.deepEqual(await resolveTax(asked, flat, question), { tax: { rate_bps: 825 } })
  })

  test('is refused if it names a provider and none is configured', async () => {
    await assert.rejects(resolveTax(null, policy, question), failsWith('tax_provider_unavailable'))
  })
})

describe('a tax provider', () => {
  test('is asked with its key, and its amount is used', async (t) => {
    let seen: unknown
    const url = await startProvider(t, async (request, response) => {
      const chunks = await Array.fromAsync(request)
      const { method, headers } = request
      seen = { method, authorization: headers.authorization, body: JSON.parse(chunks.join('')) }
      response.end('{"tax_cents": 83, "note": "ignored"}')
    })
    const answer = await resolveTax(
      httpTaxProvider({ url, key: 'k', timeoutMs: PATIENT_MS }),
      policy,
      question,
    )
    assert.deepEqual(answer, { tax: null, tax_override: 83 })
    const body = { provider: 'acme_tax', ...question }
    assert.deepEqual(seen, { method: 'POST', authorization: 'Bearer k', body })
  })

  test('may tax the shipping too, and never more than the whole order', async (t) => {
    const url = await startProvider(t, (_, response) => response.end('{"tax_cents":1050}'))
    assert.equal(await httpTaxProvider({ url, timeoutMs: PATIENT_MS })('acme_tax', question), 1_050)
  })

  const hostile = [
    '{"tax_cents":1051}',
    '{"tax_cents":-1}',
    '{"tax_cents":0.5}',
    '{"tax_cents":"5"}',
    '{"tax_cents":null}',
    '{"tax_cents":1e400}',
    '{"tax":5}',
    '[5]',
    'null',
    'not json',
    '',
    `{"tax_cents":5,"x":"${'x'.repeat(70_000)}"}`,
  ]
  test('is refused if it gives any other answer', async (t) => {
    let text = ''
    const url = await startProvider(t, (_, response) => response.end(text))
    for (text of hostile) {
      const asked = httpTaxProvider({ url, timeoutMs: PATIENT_MS })('acme_tax', question)
      await assert.rejects(asked, failsWith('service_unavailable'), text.slice(0, 40))
    }
  })

  test('is never quoted in a log line, whatever it answers', async (t) => {
    let text = ''
    const lines: string[] = []
    const logger = createLogger('trace', { write: (line: string) => void lines.push(line) })
    const url = await startProvider(t, (_, response) => response.end(text))
    for (text of [
      'no JSON: quoted',
      'quoted',
      '{"tax_cents": quoted}',
      '{"quoted":1}',
      '["quoted"',
    ]) {
      const asked = httpTaxProvider({ url, timeoutMs: PATIENT_MS })('acme_tax', question)
      await asked.catch((err) => logger.error({ err }, 'a request failed'))
    }
    assert.match(lines.join(''), /the tax provider's answer is no JSON/)
    assert.doesNotMatch(lines.join(''), /quoted/)
  })

  test('is not followed on a redirect, and its error status is no answer', async (t) => {
    let status = 0
    const url = await startProvider(t, (request, response) => {
      const location = request.url === '/quote' ? '/elsewhere' : '/quote'
      response.writeHead(status, { location }).end('{"tax_cents":5}')
    })
    for (status of [201, 302, 307, 400, 500]) {
      const asked = httpTaxProvider({ url, timeoutMs: PATIENT_MS })('acme_tax', question)
      await assert.rejects(asked, failsWith('service_unavailable'), String(status))
    }
  })

  test('has a deadline, whether it is silent or sends byte by byte', async (t) => {
    const silent = await startProvider(t, () => {})
    const dripping = await startProvider(t, (_, response) => {
      response.write('{"tax_')
      const drip = setInterval(() => response.write(' '), 20)
      response.on('close', () => clearInterval(drip))
    })
    for (const url of [silent, dripping, 'http://127.0.0.1:9/']) {
      const asked = httpTaxProvider({ url, timeoutMs: 200 })('acme_tax', question)
      await assert.rejects(asked, failsWith('service_unavailable'), url)
    }
  })
})
