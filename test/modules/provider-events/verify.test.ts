import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { schemeOf } from '../../../src/modules/provider-events/schemes.ts'
import { type Headers, KEYS, signNmi, signStandard, signStripe } from './setup.ts'

const raw = (text: string) => Buffer.from(text)

/** Texts that differ from the given one in a single character: valid at that place, or not. */
const oddOnes = (text: string) =>
  Array.from(text).flatMap((letter, at) =>
    [letter === 'x' ? 'y' : 'x', letter === '0' ? '1' : '0'].map(
      (other) => text.slice(0, at) + other + text.slice(at + 1),
    ),
  )

/** The headers with one of them changed in every way, or left out. */
const tampered = (headers: Headers): Headers[] =>
  Object.entries(headers).flatMap(([name, value]) => [
    ...oddOnes(value).map((each) => ({ ...headers, [name]: each })),
    { ...headers, [name]: '' },
    { ...headers, [name]: `${value} ` },
    { ...headers, [name]: ` ${value}` },
    { ...headers, [name]: `${value}, ${value}` },
    Object.fromEntries(Object.entries(headers).filter(([other]) => other !== name)),
  ])

describe('the scheme of NMI', () => {
  const body = raw(
    '{"event_id":"8a1a7b1c-0e4e-4c0e-8d0e-7f6b2f7b0a11","event_type":"transaction.sale.success",' +
      '"event_body":{"transaction_id":"5159573411","order_id":"00000000-0000-4000-8000-000000000001"}}',
  )
  const known = {
    'webhook-signature':
      't=AbC123nonce,s=6de632a016622eec5744760750b806eb5e997e6db9060ac928f2c95433d00375',
  }
  const holds = (headers: Headers, bytes = body, key = KEYS.nmi) =>
    schemeOf('nmi').verify(key, { headers, raw: bytes }, 0)

  test('accepts a signature made by another implementation, at any time', () => {
    assert.ok(holds(known))
    assert.ok(schemeOf('nmi').verify(KEYS.nmi, { headers: known, raw: body }, 4e12))
  })

  test('refuses any other body, key or header', () => {
    assert.ok(!holds(known, Buffer.concat([body, raw('\n')])))
    assert.ok(!holds(known, body.subarray(1)))
    assert.ok(!holds(known, raw('')))
    assert.ok(!holds(known, body, `${KEYS.nmi}0`))
    for (const headers of tampered(known)) {
      assert.ok(!holds(headers), JSON.stringify(headers))
    }
  })

  test('refuses an empty nonce and a signature of another length, without comparing', () => {
    const { 'webhook-signature': signature = '' } = signNmi(KEYS.nmi, body, '')
    assert.ok(!holds({ 'webhook-signature': signature }))
    for (const text of ['t=1,s=', 't=1,s=00', `t=1,s=${'0'.repeat(66)}`, 's=00,t=1', 't=1']) {
      assert.ok(!holds({ 'webhook-signature': text }), text)
    }
  })
})

describe('the scheme of Stripe', () => {
  const seconds = 1_700_000_000
  const now = seconds * 1_000
  const body = raw(
    '{"id":"evt_0001","type":"charge.succeeded","data":{"object":{"metadata":{"note":"café"}}}}',
  )
  const good = 'cb195d66ba4322b02d340a944e8d1dd93e439a371e4136c162ca64a85b70b895'
  const bad = '0'.repeat(64)
  const holds = (signature: string, bytes = body, at = now) =>
    schemeOf('stripe').verify(
      KEYS.stripe,
      { headers: { 'stripe-signature': signature }, raw: bytes },
      at,
    )

  test('accepts a signature made by another implementation among several', () => {
    assert.ok(holds(`t=${seconds},v1=${good}`))
    assert.ok(holds(`t=${seconds},v1=${bad},v1=${good},v0=ab`))
    assert.ok(!holds(`t=${seconds},v1=${bad},v1=${bad}`))
  })

  test('accepts a time within five minutes in either direction, and no other', () => {
    for (const off of [-300_000, 300_000]) {
      assert.ok(holds(`t=${seconds},v1=${good}`, body, now + off))
      assert.ok(!holds(`t=${seconds},v1=${good}`, body, now + off + Math.sign(off)))
    }
  })

  test('refuses any other body or header', () => {
    assert.ok(!holds(`t=${seconds},v1=${good}`, Buffer.concat([body, raw(' ')])))
    for (const headers of tampered(signStripe(KEYS.stripe, body, seconds))) {
      assert.ok(
        !schemeOf('stripe').verify(KEYS.stripe, { headers, raw: body }, now),
        JSON.stringify(headers),
      )
    }
  })

  test('refuses two timestamps, an invalid timestamp, and a wrong scheme', () => {
    for (const text of [
      `t=${seconds},t=${seconds},v1=${good}`,
      `t=${seconds}.0,v1=${good}`,
      `t=0${seconds},v1=${good}`,
      `t=${seconds},v0=${good}`,
      `t=${seconds},v1=${good},v1=00`,
      `t=${seconds},v1=${good},`,
      `t=${seconds}${`,v1=${good}`.repeat(20)}`,
      `v1=${good}`,
    ]) {
      assert.ok(!holds(text), text)
    }
  })
})

describe('the scheme of Standard Webhooks', () => {
  const published = [
    {
      key: 'whsec_plJ3nmyCDGBKInavdOK15jsl',
      body: '{"event_type":"ping","data":{"success":true}}',
      id: 'msg_loFOjxBNrRLzqYUf',
      seconds: 1_731_705_121,
      signature: 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
    },
    {
      key: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      body: '{"test": 2432232314}',
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      seconds: 1_614_265_330,
      signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
  ]
  const [vector] = published
  assert.ok(vector)
  const body = raw(vector.body)
  const now = vector.seconds * 1_000
  const headersOf = ({ id, seconds, signature }: typeof vector): Headers => ({
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signature,
  })
  const holds = (headers: Headers, at = now, bytes = body) =>
    schemeOf('standard').verify(vector.key, { headers, raw: bytes }, at)

  test('accepts the published vectors, with and without the prefix of the key', () => {
    for (const each of published) {
      const sent = { headers: headersOf(each), raw: raw(each.body) }
      assert.ok(schemeOf('standard').verify(each.key, sent, each.seconds * 1_000))
      assert.ok(schemeOf('standard').verify(each.key.slice(6), sent, each.seconds * 1_000))
    }
  })

  test('accepts a key without its padding, and refuses one with unused bits', () => {
    const bytes = Buffer.alloc(32, 'a key for tests')
    const padded = bytes.toString('base64')
    const bare = padded.replaceAll('=', '')
    const id = 'msg_1'
    const headers = signStandard(padded, body, { id, seconds: vector.seconds })
    for (const key of [padded, bare, `whsec_${bare}`]) {
      assert.ok(schemeOf('standard').verify(key, { headers, raw: body }, now), key)
    }
    const loose = bare.replace(/A$/, 'B')
    assert.deepEqual(Buffer.from(loose, 'base64'), bytes)
    for (const key of [loose, `${bare}==`, `${padded}=`, `${bare.slice(0, 8)}=`, '====', '']) {
      assert.ok(!schemeOf('standard').verify(key, { headers, raw: body }, now), key)
    }
  })

  test('accepts one good signature among others', () => {
    const headers = headersOf(vector)
    const others = `v1a,AAAA v1,${Buffer.alloc(32).toString('base64')}`
    assert.ok(holds({ ...headers, 'webhook-signature': `${others} ${vector.signature}` }))
    assert.ok(!holds({ ...headers, 'webhook-signature': others }))
  })

  test('accepts a time within five minutes in either direction, and no other', () => {
    for (const off of [-300_000, 300_000]) {
      assert.ok(holds(headersOf(vector), now + off))
      assert.ok(!holds(headersOf(vector), now + off + Math.sign(off)))
    }
  })

  test('refuses any other body or header', () => {
    assert.ok(!holds(headersOf(vector), now, Buffer.concat([body, raw(' ')])))
    for (const headers of tampered(headersOf(vector))) {
      assert.ok(!holds(headers), JSON.stringify(headers))
    }
  })

  test('refuses another spelling of the same signature', () => {
    const [, mac = ''] = vector.signature.split(',')
    // The last letter before the padding has two unused bits.
    const loose = `${mac.slice(0, -2)}1=`
    assert.deepEqual(Buffer.from(loose, 'base64'), Buffer.from(mac, 'base64'))
    assert.ok(!holds({ ...headersOf(vector), 'webhook-signature': `v1,${loose}` }))
    const bare = mac.replaceAll('=', '')
    assert.ok(!holds({ ...headersOf(vector), 'webhook-signature': `v1,${bare}` }))
  })

  test('refuses an id with a dot, which could be read as another id and time', () => {
    const shifted = raw(`${vector.seconds}.{}`)
    const signed = signStandard(vector.key, shifted, { id: 'a', seconds: vector.seconds })
    assert.ok(holds(signed, now, shifted))
    const read = { ...signed, 'webhook-id': `a.${vector.seconds}` }
    assert.ok(!holds(read, now, raw('{}')))
  })
})
