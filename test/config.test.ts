import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import { readConfig } from '../src/config.ts'

const PRODUCTION = {
  NODE_ENV: 'production',
  OPERATOR_TOKEN: 'the operator token of a production',
  STOREFRONT_TOKEN: 'the storefront token of a production',
  SECRET_KEY: 'the secret key of some production',
  PAYMENT_GATEWAY: 'simulated',
}

describe('cookies are for https alone', () => {
  test('cookies are for https alone in production without a public address, and wherever the public address is https', () => {
    assert.equal(readConfig(PRODUCTION).isHttps, true)
    for (const PUBLIC_URL of ['https://shops.example', 'HTTPS://shops.example/']) {
      assert.equal(readConfig({ ...PRODUCTION, PUBLIC_URL }).isHttps, true)
      assert.equal(readConfig({ PUBLIC_URL }).isHttps, true)
    }
  })

  test('cookies work without https in development on this machine', () => {
    assert.equal(readConfig({}).isHttps, false)
    assert.equal(readConfig({ PUBLIC_URL: 'http://shops.example' }).isHttps, false)
  })
})

test('production refuses a public address of http, except on this machine', () => {
  for (const isRenderer of [false, true]) {
    const env = { ...PRODUCTION, STOREFRONT_API_URL: 'https://api.shops.example' }
    const read = (PUBLIC_URL: string) => readConfig({ ...env, PUBLIC_URL }, isRenderer)
    for (const url of [
      'http://shops.example',
      'HTTP://10.0.0.1:8080',
      'http://localhost.example',
    ]) {
      assert.throws(() => read(url), /PUBLIC_URL must be https in production/, url)
    }
    for (const url of ['http://localhost:8080', 'http://127.0.0.1', 'http://[::1]:80']) {
      assert.equal(read(url).isHttps, false, url)
    }
  }
})

test('production loads the script of card fields from NMI alone', () => {
  const NMI_COLLECT_URL = 'http://127.0.0.1:9/Collect.js'
  const env = { ...PRODUCTION, NMI_COLLECT_URL }
  assert.throws(() => readConfig(env), /NMI_COLLECT_URL must not be set in production/)
  assert.equal(readConfig({ NMI_COLLECT_URL }).NMI_COLLECT_URL, NMI_COLLECT_URL)
})

describe('the key that signs mail', () => {
  const pem = (options: { type: 'rsa' | 'ec'; bits?: number }) => {
    const format = { type: 'pkcs8', format: 'pem' } as const
    const { privateKey } =
      options.type === 'rsa'
        ? generateKeyPairSync('rsa', { modulusLength: options.bits ?? 1_024 })
        : generateKeyPairSync('ec', { namedCurve: 'P-256' })
    return privateKey.export(format) as string
  }
  const key = pem({ type: 'rsa' })
  const env = {
    MAIL_FROM: 'Shops <no-reply@mail.shops.example>',
    MAIL_DKIM_DOMAIN: 'Shops.example',
    MAIL_DKIM_SELECTOR: 'k1',
    MAIL_DKIM_KEY: key,
  }

  test('is read with its domain and selector, also when it is written on one line', () => {
    assert.equal(readConfig({}).dkim, null)
    for (const MAIL_DKIM_KEY of [key, key.replaceAll('\n', '\\n')]) {
      const { dkim } = readConfig({ ...env, MAIL_DKIM_KEY })
      assert.equal(dkim?.privateKey, key)
      assert.deepEqual([dkim?.domainName, dkim?.keySelector], ['Shops.example', 'k1'])
    }
  })

  test('is refused without a selector, of another kind, too short, or for another sender', () => {
    for (const name of ['MAIL_DKIM_DOMAIN', 'MAIL_DKIM_SELECTOR', 'MAIL_DKIM_KEY']) {
      assert.throws(() => readConfig({ ...env, [name]: '' }), /must be set together/, name)
    }
    for (const MAIL_DKIM_KEY of [
      'nonsense',
      pem({ type: 'ec' }),
      pem({ type: 'rsa', bits: 512 }),
    ]) {
      assert.throws(
        () => readConfig({ ...env, MAIL_DKIM_KEY }),
        /MAIL_DKIM_KEY must be an RSA key as PEM/,
      )
    }
    for (const MAIL_FROM of ['a@other.example', 'a@notshops.example', 'nobody']) {
      assert.throws(() => readConfig({ ...env, MAIL_FROM }), /must be the domain of MAIL_FROM/)
    }
  })
})

test('the key of mail feedback is base64 of a minimum length', () => {
  const good = Buffer.alloc(24, 1).toString('base64')
  for (const MAIL_FEEDBACK_KEY of [good, `whsec_${good}`]) {
    assert.equal(readConfig({ MAIL_FEEDBACK_KEY }).MAIL_FEEDBACK_KEY, MAIL_FEEDBACK_KEY)
  }
  for (const MAIL_FEEDBACK_KEY of ['short', 'x'.repeat(31), `${good} `, 'ü'.repeat(40)]) {
    assert.throws(() => readConfig({ MAIL_FEEDBACK_KEY }), /MAIL_FEEDBACK_KEY must be/)
  }
})
