import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openTestApp, type TestApp } from '../../harness/app.ts'
import {
  DRAFT,
  OVERVIEW,
  PREVIEW_TOKEN,
  PUBLISH,
  resolveUrl,
  saveText,
  sendRaw,
  setStatus,
  siteUrl,
} from './setup.ts'

/** Manifests that would change if they were parsed and written again. */
const SPELLINGS: Record<string, string> = {
  'unknown members, at every level':
    '{"zebra":1,"store":{"x":{"y":[{}]}},"template":{"id":"t","z":0,"sections":[{"type":"hero","props":{"heading":"h","q":1},"extra":[1]}]}}',
  'the order of keys': '{"z":1,"a":2,"10":3,"9":4,"seo":{"b":1,"a":2}}',
  'the spelling of numbers': '{"n":[1.0,1e2,1E+2,-0,0.10,100,1.50e-1,9007199254740991]}',
  'space of every kind': '{ \n\t"seo"\r\n : { } , "a" :[ 1 ,\n2 ] }',
  escapes: '{"seo":{"t":"\\u00e9 é \\/ / \\u0041 \\ud83d\\ude00 😀 \\n \\u2028 \u2028"}}',
  'member names as escapes': '{"s\\u0065o":{"\\u0061":1}}',
  'a manifest within': '{"manifest":{"manifest":"{\\"manifest\\":1}"},"a":"}]"}',
  'an empty one': '{ }',
  'what looks like a placeholder': '{"seo":{"t":"$1 $& $$ %s {0} {{x}}"}}',
}

describe('a manifest is answered as it was sent, byte for byte', () => {
  test('a manifest is answered as it was sent in every answer that shows it', async (t) => {
    const app = await openTestApp(t, { live: true })
    for (const [i, [what, spelling]] of Object.entries(SPELLINGS).entries()) {
      await assertVerbatim(app, `store-${i}`, what, spelling)
    }
  })

  test('a manifest is answered unchanged also when the body spells the name `manifest` with escapes', async (t) => {
    const app = await openTestApp(t)
    const key = await app.key('acme')
    const body = '{"more":{"manifest":{"no":1}},"\\u006danifest":{"n":1.0}}'
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const answer = await sendRaw(app, DRAFT, { method: 'PUT', headers, body })
    assert.equal(answer.status, 200, answer.body.toString())
    const overview = await sendRaw(app, OVERVIEW, { headers: { authorization: `Bearer ${key}` } })
    assert.match(overview.body.toString(), /"manifest":\{"n":1\.0\}/)
  })
})

async function assertVerbatim(app: TestApp, tenant: string, what: string, spelling: string) {
  const key = await app.key(tenant)
  const headers = { authorization: `Bearer ${key}` }
  await saveText(app, key, spelling)
  await saveText(app, key, spelling, DRAFT)
  await setStatus(app, tenant, 'live')
  const { token } = (await app.as(headers).post(PREVIEW_TOKEN, { version: 2 })).body
  const wanted = Buffer.from(`"manifest":${spelling}`)
  const paths = [siteUrl(tenant), resolveUrl(tenant)]
  // Twice, so that the second answer comes from memory.
  for (const path of [...paths, ...paths, `/v1/preview-resolve?token=${token}`]) {
    const { body } = await sendRaw(app, path)
    assert.ok(body.includes(wanted), `${what}: ${path}`)
    JSON.parse(body.toString())
  }
  const overview = (await sendRaw(app, OVERVIEW, { headers })).body.toString()
  assert.equal(overview.split(wanted.toString()).length, 3, `${what}: active and draft`)
  JSON.parse(overview)
  assert.equal((await app.as(headers).post(PUBLISH, { version: 2 })).status, 200)
  assert.ok((await sendRaw(app, siteUrl(tenant))).body.includes(wanted))
}
