import assert from 'node:assert/strict'
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
  test('in production without a public address, and wherever that is https', () => {
    assert.equal(readConfig(PRODUCTION).isHttps, true)
    for (const PUBLIC_URL of ['https://shops.example', 'HTTPS://shops.example/']) {
      assert.equal(readConfig({ ...PRODUCTION, PUBLIC_URL }).isHttps, true)
      assert.equal(readConfig({ PUBLIC_URL }).isHttps, true)
    }
  })

  test('but not in development on this machine', () => {
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
  const env = { ...PRODUCTION, NMI_COLLECT_URL, STOREFRONT_API_URL: 'https://api.shops.example' }
  for (const isRenderer of [false, true]) {
    assert.throws(
      () => readConfig(env, isRenderer),
      /NMI_COLLECT_URL must not be set in production/,
    )
  }
  assert.equal(readConfig({ NMI_COLLECT_URL }).NMI_COLLECT_URL, NMI_COLLECT_URL)
})
