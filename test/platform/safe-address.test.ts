import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkUrl, isPublicAddress, UnsafeUrlError } from '../../src/platform/safe-address.ts'
import {
  FORBIDDEN_ADDRESSES,
  NOT_ADDRESSES,
  PUBLIC_ADDRESSES,
  SAFE_URLS,
  UNSAFE_URLS,
} from '../harness/address-vectors.ts'

const PORT = 18_443

function reasonOf(url: string, testTargets: readonly string[] = []): string {
  try {
    checkUrl(url, { testTargets })
    return 'accepted'
  } catch (error) {
    assert.ok(error instanceof UnsafeUrlError)
    assert.equal(error.kind, 'refused_destination')
    assert.equal(error.message, 'The destination is not a public HTTPS address.')
    return error.reason
  }
}

test('the check of addresses is tested with more than 110 vectors', () => {
  const rows = [...FORBIDDEN_ADDRESSES, ...UNSAFE_URLS]
  assert.ok(rows.reduce((sum, row) => sum + row.length - 1, 0) > 110)
})

test('the check of addresses calls no special-purpose range public', () => {
  for (const [range, ...addresses] of FORBIDDEN_ADDRESSES) {
    for (const address of addresses) {
      assert.equal(isPublicAddress(address), false, `${range}: ${address}`)
    }
  }
})

test('the check of addresses calls the neighbours of the special-purpose ranges public', () => {
  for (const address of PUBLIC_ADDRESSES) assert.equal(isPublicAddress(address), true, address)
})

test('the check of addresses accepts no other spelling of an address', () => {
  for (const text of NOT_ADDRESSES) assert.equal(isPublicAddress(text), false, text)
})

test('the check of addresses never calls an address of this installation public, however it is written', () => {
  const own = ['8.8.4.4', '2606:4700:4700:0:0:0:0:1001']
  assert.equal(isPublicAddress('8.8.4.4', own), false)
  assert.equal(isPublicAddress('2606:4700:4700::1001', own), false)
  assert.equal(isPublicAddress('8.8.8.8', own), true)
  assert.throws(
    () => checkUrl('https://8.8.4.4/', { testTargets: [], ownAddresses: own }),
    UnsafeUrlError,
  )
})

test('the check of addresses refuses every unsafe URL for its own reason and with the same message', () => {
  for (const [reason, ...urls] of UNSAFE_URLS) {
    for (const template of urls) {
      const url = template.replaceAll('PORT', String(PORT))
      assert.equal(reasonOf(url), reason, JSON.stringify(url))
    }
  }
})

test('the check of addresses refuses every special-purpose address written into a URL', () => {
  for (const [range, ...addresses] of FORBIDDEN_ADDRESSES) {
    for (const address of addresses) {
      const host = address.includes(':') ? `[${address}]` : address
      assert.equal(reasonOf(`https://${host}:${PORT}/`), 'address', `${range}: ${address}`)
    }
  }
})

test('the check of addresses accepts public HTTPS URLs', () => {
  for (const url of SAFE_URLS) assert.equal(reasonOf(url), 'accepted', url)
})

test('refuses a URL longer than any server takes', () => {
  const url = (length: number) => 'https://hook.example.com/'.padEnd(length, 'x')
  assert.equal(reasonOf(url(2_048)), 'accepted')
  assert.equal(reasonOf(url(2_049)), 'malformed')
})

test('the check of addresses exempts a test target and nothing else', () => {
  const targets = ['127.0.0.1:8080', 'Sink:80', '[::1]:8080']
  const table: readonly (readonly [url: string, outcome: string])[] = [
    ['http://127.0.0.1:8080/', 'accepted'],
    ['https://127.0.0.1:8080/', 'accepted'],
    ['http://sink/', 'accepted'],
    ['http://[::1]:8080/', 'accepted'],
    ['http://127.0.0.1:8081/', 'scheme'],
    ['https://127.0.0.1:8081/', 'address'],
    ['http://127.0.0.2:8080/', 'scheme'],
    ['https://sink/', 'host'],
    ['ftp://127.0.0.1:8080/', 'scheme'],
    ['http://2130706433:8080/', 'spelling'],
    ['http://user@127.0.0.1:8080/', 'credentials'],
    ['http://127.0.0.1:8080/#x', 'fragment'],
    ['http://127.0.0.1:8080\\@8.8.8.8/', 'credentials'],
  ]
  for (const [url, outcome] of table) assert.equal(reasonOf(url, targets), outcome, url)
})
