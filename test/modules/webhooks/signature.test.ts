import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  bareSignature,
  signatureV1,
  signedHeaders,
  signingKey,
} from '../../../src/modules/webhooks/envelope.ts'

const SECRET = 'whsec_test_0123456789abcdef0123456789abcdef'
const TIMESTAMP = 1_700_000_000

const VECTORS = [
  {
    body: '{"id":"evt_0001","type":"commerce.order.placed.v1","tenant_ref":"acme","created_at":"2023-11-14T22:13:20.000Z","data":{"order_id":"00000000-0000-4000-8000-000000000001"}}',
    v1: 'efd4d819a53bbe74ac0826ac6225810deb901e9d3efc36a2cb07d0e3388409d3',
    bare: '208532ce3d046788566abb40f85d6b1c363111aa18dd274868292aa8e71ae10e',
  },
  {
    body: '{"id":"evt_0002","type":"platform.test.v1","tenant_ref":"acme","created_at":"2023-11-14T22:13:20.000Z","data":{"test":true,"note":"café 😀 \u2028"}}',
    v1: '3860b13fed81971eeda1800a3fc5f9507e959543c66d7891abe385602591275d',
    bare: 'b56d26baec360548142ff6174cea08ffef5e401f3a72edb1f84a3ecebd2744da',
  },
  {
    body: '',
    v1: '6ae26e13153cef6fdee7f8f3f98fa44066807ce069cf52d8d2075f0279ebc559',
    bare: '86aee901194fbc4d1371ec10e1c7c5ea4e69fc1a69b971ec3d19f4c413b22f8e',
  },
]

test('signatures equal the published vectors', () => {
  const key = signingKey(SECRET)
  for (const { body, v1, bare } of VECTORS) {
    assert.equal(signatureV1(key, TIMESTAMP, Buffer.from(body)), v1)
    assert.equal(bareSignature(key, Buffer.from(body)), bare)
  }
})

test('signatures of Standard Webhooks use the key bytes after the prefix', () => {
  // The example of that specification's own libraries.
  const headers = signedHeaders({
    eventId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    eventType: 'test',
    body: Buffer.from('{"test": 2432232314}'),
    keys: [signingKey('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')],
    timestamp: 1_614_265_330,
    attempt: 1,
  })
  assert.equal(headers['webhook-signature'], 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})

const guide = readFileSync(new URL('../../../docs/guides/webhooks.md', import.meta.url), 'utf8')
const recipe = (language: string) =>
  new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(guide)?.[1] ?? ''

/** Requests to a receiver, and whether it must accept them. */
function cases() {
  return VECTORS.flatMap(({ body, v1, bare }) => {
    const given = (header: string, now = TIMESTAMP) => ({ body, header, now })
    return [
      { ...given(`t=${TIMESTAMP},v1=${v1}`), good: true },
      { ...given(`t=${TIMESTAMP},v1=${'0'.repeat(64)},v1=${v1}`), good: true },
      { ...given(`t=${TIMESTAMP},v1=${v1}`, TIMESTAMP + 299), good: true },
      { ...given(`t=${TIMESTAMP},v1=${v1}`, TIMESTAMP + 301), good: false },
      { ...given(`t=${TIMESTAMP},v1=${v1}`, TIMESTAMP - 301), good: false },
      { ...given(`t=${TIMESTAMP + 1},v1=${v1}`), good: false },
      { ...given(`t=${TIMESTAMP},v1=${bare}`), good: false },
      { ...given(`t=${TIMESTAMP},v1=${v1.slice(1)}`), good: false },
      { ...given(`t=${TIMESTAMP}`), good: false },
      { ...given(`t=${TIMESTAMP},v1=\u00e9`), good: false },
      { ...given(`t=\u00b2,v1=${v1}`), good: false },
      { ...given(''), good: false },
    ]
  })
}

test("the guide's recipe for Node accepts valid signatures, and nothing else", async () => {
  const source = `data:text/javascript,${encodeURIComponent(recipe('js'))}`
  const { isGenuine } = await import(source)
  for (const { body, header, now, good } of cases()) {
    const headers = { 'x-webhook-signature-v1': header }
    assert.equal(isGenuine(SECRET, headers, Buffer.from(body), now), good, header)
  }
})

test("the guide's recipe for Python accepts valid signatures, and nothing else", (t) => {
  if (spawnSync('python3', ['--version']).status !== 0) return t.skip('this machine has no Python')
  const script = `${recipe('python')}
import json, sys
print(json.dumps([is_genuine(c["secret"], {"x-webhook-signature-v1": c["header"]}, c["body"].encode(), c["now"])
                  for c in json.load(sys.stdin)]))`
  const input = JSON.stringify(cases().map((each) => ({ ...each, secret: SECRET })))
  const { stdout, stderr } = spawnSync('python3', ['-c', script], { input, encoding: 'utf8' })
  assert.equal(stderr, '')
  assert.deepEqual(
    JSON.parse(stdout),
    cases().map(({ good }) => good),
  )
})

test('the guide shows the published vectors', () => {
  assert.ok(guide.includes(VECTORS[0]?.body ?? '-') && guide.includes(VECTORS[0]?.v1 ?? '-'))
  assert.ok(guide.includes(SECRET) && guide.includes(String(TIMESTAMP)))
})
