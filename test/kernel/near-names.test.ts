import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findNear } from '../../src/kernel/near-names.ts'

const KNOWN = ['email', 'customer_ref', 'sku', 'id', 'note', 'line1', 'line2', 'tax_cents', 'items']

test('a misspelt name is near the one it was meant to be', () => {
  const misspelt = {
    emial: 'email',
    emails: 'email',
    mail: 'email',
    customerRef: 'customer_ref',
    custmer_ref: 'customer_ref',
    cutsomer_rfe: 'customer_ref',
    notes: 'note',
    noet: 'note',
    SKU: 'sku',
    item: 'items',
    tax_cent: 'tax_cents',
    'tax-cents': 'tax_cents',
  }
  for (const [sent, meant] of Object.entries(misspelt))
    assert.equal(findNear(sent, KNOWN), meant, sent)
})

test('a name that is only a little similar is not suggested', () => {
  const others = [
    'ip',
    'skus',
    'sk',
    'line3',
    'line',
    'tags',
    'phone',
    'customer',
    'tax',
    'total_cents',
    '',
  ]
  for (const sent of others) assert.equal(findNear(sent, KNOWN), null, sent)
  assert.equal(findNear('x'.repeat(100_000), KNOWN), null)
})
