import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import { ERRORS } from '../../src/compose/errors.ts'
import { allFailures } from '../../src/http/route.ts'
import { serveDescribedApp } from '../harness/described-app.ts'

async function readPage(t: TestContext) {
  const { ask } = await serveDescribedApp(t, { tags: { gadgets: 'Things with `code`.' } })
  const page = await ask('/docs')
  assert.equal(page.status, 200)
  return page
}

const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => found)

/** The part of the page about one operation. */
const articleOf = (body: string, id: string) =>
  body.slice(body.indexOf(`<article id="${id}"`)).split('</article>', 1)[0] ?? ''

describe('the API reference', () => {
  test('is served to anyone, as the same bytes each time', async (t) => {
    const { ask } = await serveDescribedApp(t)
    const [first, second] = [await ask('/docs'), await ask('/docs')]
    assert.equal(first.headers.get('content-type'), 'text/html; charset=utf-8')
    assert.equal(first.body, second.body)
  })

  test('loads nothing and runs nothing: its policy allows its own stylesheet alone', async (t) => {
    const { body, headers } = await readPage(t)
    const [style = ''] = all(body, /<style>(.*?)<\/style>/gs)
    const hash = createHash('sha256').update(style).digest('base64')
    const policy = headers.get('content-security-policy') ?? ''
    assert.match(policy, /^default-src 'none'; /)
    assert.ok(policy.includes(`style-src 'sha256-${hash}';`))
    assert.doesNotMatch(body, /<script|<link|<img|<iframe|\sstyle=|\son\w+=|url\(|@import/)
    const targets = all(body, /(?:href|src)="([^"]*)"/g)
    assert.deepEqual(
      targets.filter((target) => !/^(#|\/openapi\.json$)/.test(target ?? '')),
      [],
    )
  })

  test('escapes the descriptions of routes', async (t) => {
    const { body } = await readPage(t)
    assert.ok(body.includes('Shown as &lt;b&gt;is&lt;/b&gt;.'))
    assert.ok(body.includes('Things with <code>code</code>.'))
  })

  test('names for each operation the credential and the scope it needs', async (t) => {
    const { body } = await readPage(t)
    const callers = ['getGadget', 'createGadget', 'listGadgets', 'ownerDrop', 'operatorDrop'].map(
      (id) => all(articleOf(body, id), /<p class="who">(.*?)<\/p>/g)[0],
    )
    assert.deepEqual(callers, [
      'For merchants, with a key of scope <code>read:own_catalog</code>.',
      'For merchants, with a key of any scope, or its owner with a session.',
      'No credential is needed.',
      'For owners, with a session.',
      'For the operator, with the operator token.',
    ])
  })

  test('lists every code of an operation with its meaning', async (t) => {
    const article = articleOf((await readPage(t)).body, 'createGadget')
    const config = { plane: 'merchant', orOwner: true, idempotent: true } as const
    const codes = allFailures({ config, method: 'POST' })
    const told = all(article, /<td><code>(\w+)<\/code><\/td>/g)
    assert.deepEqual(told.toSorted(), codes.toSorted())
    assert.ok(article.includes(`<td>${ERRORS.idempotency_key_required[1]}</td>`))
  })

  test('shows parameters, bodies and answers with their types and bounds', async (t) => {
    const { body } = await readPage(t)
    const text = (html: string) =>
      html
        .replace(/<.?(li|ul|div|h4)\b[^>]*>/g, ' ')
        .replace(/<[^>]+>/g, '')
        .replace(/\s+/g, ' ')
    const list = text(articleOf(body, 'listGadgets'))
    assert.ok(list.includes('limit in the query, integer · at most 50, default 20'))
    assert.ok(list.includes('gadgets list of Gadget'))
    const create = text(articleOf(body, 'createGadget'))
    assert.ok(create.includes('name string required'))
    assert.ok(create.includes('note string Answer 201'))
    const shape = text(articleOf(body, 'shape-Gadget'))
    assert.ok(shape.includes('name string · at least 1 character, at most 80 characters'))
    assert.ok(shape.includes('made_at string (date-time) or null'))
    assert.ok(shape.includes('kind &quot;plain&quot; | &quot;fancy&quot;'))
    assert.ok(shape.includes('parts list of object sku string count integer · at least 1'))
  })

  test('has landmarks, one first heading, unique ids and no broken link', async (t) => {
    const { body } = await readPage(t)
    assert.match(body, /^<!doctype html>\n<html lang="en">/)
    for (const landmark of ['header', 'nav', 'main', 'h1']) {
      assert.equal(all(body, new RegExp(`<(${landmark})[ >]`, 'g')).length, 1)
    }
    const ids = all(body, /\sid="([^"]+)"/g)
    assert.deepEqual(
      ids.filter((id, i) => ids.indexOf(id) !== i),
      [],
    )
    const links = all(body, /href="#([^"]+)"/g)
    assert.ok(links.length > 0)
    assert.deepEqual(
      links.filter((id) => !ids.includes(id)),
      [],
    )
    const labels = all(body, /aria-labelledby="([^"]+)"/g)
    assert.deepEqual(
      labels.filter((id) => !ids.includes(id)),
      [],
    )
  })
})
