import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { listValues, normalise } from '../../../src/modules/fraud/normalise.ts'
import type { BanKind } from '../../../src/modules/fraud/schema.ts'

describe('the normalised value', () => {
  const alike: [BanKind, string, string][] = [
    ['email', 'Mallory+1@Example.COM', 'mallory+1@example.com'],
    ['email', ' ｍallory@bücher.example ', 'mallory@xn--bcher-kva.example'],
    ['email_domain', '@Mail.Example.', 'mail.example'],
    ['email_domain', 'bücher.example', 'xn--bcher-kva.example'],
    ['ip', '192.0.2.1', '192.0.2.1'],
    ['ip', '::ffff:192.0.2.1', '192.0.2.1'],
    ['ip', '::FFFF:C000:0201', '192.0.2.1'],
    ['ip', '2001:DB8:0:0::1', '2001:db8::1'],
    ['ip', '192.0.2.1:443', '192.0.2.1'],
    ['ip', '[::ffff:192.0.2.1]', '192.0.2.1'],
    ['ip', '[2001:db8::1]:443', '2001:db8::1'],
    ['cidr', '192.0.2.77/24', '192.0.2.0/24'],
    ['cidr', '::ffff:192.0.2.77/120', '192.0.2.0/24'],
    ['cidr', '2001:db8:1:2:3::/33', '2001:db8::/33'],
    ['cidr', '192.0.2.77/32', '192.0.2.77/32'],
    ['card_bin', '41111111', '41111111'],
    ['address', '12, Müller-Straße #4', '12mullerstraße4'],
    ['address', '１２ MULLER STRAẞE 4', '12mullerstraße4'],
    ['customer_ref', 'клиент 7 😀', 'клиент 7 😀'],
  ]
  for (const [kind, written, kept] of alike) {
    test(`the normalised value of ${kind} ${written} is ${kept}`, () =>
      assert.equal(normalise(kind, written), kept))
  }

  const refused: [BanKind, string][] = [
    ['email', 'mallory'],
    ['email', '@example.com'],
    ['email', 'mallory@localhost'],
    ['email', `m@${'a'.repeat(400)}.example`],
    ['email_domain', 'com'],
    ['email_domain', '192.0.2.1'],
    ['ip', '192.0.2'],
    ['ip', '192.0.2.1, 192.0.2.2'],
    ['ip', '192.0.2.1:'],
    ['ip', '0x7f.1'],
    ['ip', 'fe80::1%eth0'],
    ['ip', '192.0.2.1/32'],
    ['cidr', '192.0.2.1'],
    ['cidr', '0.0.0.0/0'],
    ['cidr', '192.0.2.0/33'],
    ['cidr', '192.0.2.0/-1'],
    ['cidr', '192.0.2.0/24/24'],
    ['cidr', '::/8'],
    ['cidr', '::ffff:0.0.0.0/96'],
    ['customer_ref', 'a\nb'],
    ['card_fingerprint', 'short'],
    ['card_bin', '41111'],
    ['card_bin', '4111111111111111'],
    ['address', '— ! —'],
    ['email', `${'ﷲ'.repeat(300)}@example.com`],
  ]
  for (const [kind, written] of refused) {
    test(`the normalised value of the invalid ${kind} ${written.slice(0, 30)} is null`, () =>
      assert.equal(normalise(kind, written), null))
  }

  test('is computed fast for a text with many combining marks', () => {
    const marks = '\u0300\u0316'.repeat(200_000)
    const began = performance.now()
    normalise('address', `a${marks}`)
    normalise('email', `a${marks}@example.com`)
    // About 20 ms; a quadratic algorithm takes minutes.
    assert.ok(performance.now() - began < 60_000)
  })
})

test('lists every value that a ban of a fact may have', () => {
  const values = listValues({
    customer_ref: 'c1',
    email: 'A@shop.Mail.example',
    ip: '::ffff:192.0.2.1',
    card_bin: '4111111111111111',
  })
  const of = (wanted: BanKind) =>
    values.flatMap(({ kind, value }) => (kind === wanted ? [value] : []))
  assert.deepEqual(of('email_domain'), ['shop.mail.example', 'mail.example'])
  assert.deepEqual(of('card_bin'), ['411111', '4111111', '41111111'])
  assert.equal(of('cidr').length, 25)
  assert.ok(of('cidr').includes('192.0.0.0/13'))
  assert.deepEqual([...of('ip'), ...of('email')], ['192.0.2.1', 'a@shop.mail.example'])
  assert.deepEqual(of('address'), [])
})
