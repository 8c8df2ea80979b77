// Imports products from a CSV file into a store, by the merchant's product routes. Plain Node 20 or newer, no packages.
//
//   FAIRDOCK_URL=http://127.0.0.1:8080 FAIRDOCK_KEY=fdk_... node import-products.mjs products.csv [--dry-run]
//
// A product is found by its slug and a variant by its SKU. So a second run changes nothing, and a run that was interrupted
// is simply started again.
import { readFile } from 'node:fs/promises'

const PRODUCTS = '/v1/merchant/catalog/products'
const TRIES_MAX = 6
const PAGE = 100
const OPTIONS_MAX = 5

/** Splits CSV (RFC 4180) into rows of cells: quoted cells may have commas, quotes and line breaks. */
export function parseCsv(text) {
  const rows = []
  let row = []
  const cells = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/gy
  const source = text.replace(/^\uFEFF/, '')
  while (cells.lastIndex < source.length) {
    const at = cells.lastIndex
    const found = cells.exec(source)
    if (found === null) throw new Error(`The file is not CSV at character ${at + 1}.`)
    const [, quoted, plain, end] = found
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === ',') {
      if (cells.lastIndex === source.length) row.push('')
      else continue
    }
    if (row.length > 1 || row[0] !== '') rows.push(row)
    row = []
  }
  return rows
}

/** The export marks with an apostrophe what a spreadsheet would run as a formula, wherever it may begin a cell. */
export const unmark = (text) =>
  text.replace(/((?:^|[;|\t\r\n\v\f])[\s"]*'*)'(?=[=+\-@|%＝＋－＠])/g, '$1')

/** The rows as objects by the names of the first row. Empty cells are left out. */
export function readTable(text) {
  const [names = [], ...rows] = parseCsv(text)
  if (!names.includes('slug')) throw new Error('The first line must name the columns, with `slug`.')
  return rows.map((cells, at) => {
    if (cells.length !== names.length) {
      throw new Error(`Row ${at + 2} has ${cells.length} cells, and the first row ${names.length}.`)
    }
    const pairs = names.map((name, column) => [name.trim(), unmark(cells[column])])
    return { row: at + 2, ...Object.fromEntries(pairs.filter(([, text]) => text !== '')) }
  })
}

function integer({ row, ...cells }, name) {
  if (cells[name] === undefined) return undefined
  if (!/^-?\d+$/.test(cells[name])) throw new Error(`Row ${row}: ${name} must be a whole number.`)
  return Number(cells[name])
}

/** Without the members that the row does not have, so that these stay as they are in the store. */
const defined = (members) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))

const productOf = (row) =>
  defined({
    slug: row.slug?.normalize('NFC'),
    name: row.name,
    description: row.description,
    subscription_interval: row.subscription_interval,
    subscription_interval_count: integer(row, 'subscription_interval_count'),
    subscription_price_cents: integer(row, 'subscription_price_cents'),
  })

function variantOf(row) {
  const places = Array.from({ length: OPTIONS_MAX }, (_, at) => at + 1)
  const options = places.flatMap((at) =>
    row[`option${at}_name`] === undefined
      ? []
      : [{ name: row[`option${at}_name`], value: row[`option${at}_value`] ?? '' }],
  )
  return defined({
    sku: row.sku?.normalize('NFC'),
    label: row.label,
    price_cents: integer(row, 'price_cents'),
    compare_at_price_cents: integer(row, 'compare_at_price_cents'),
    currency: row.currency,
    content_amount: integer(row, 'content_amount'),
    content_unit: row.content_unit,
    gift_card: row.gift_card === undefined ? undefined : row.gift_card === 'true',
    position: integer(row, 'position'),
    options: options.length > 0 ? options : undefined,
  })
}

const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other)

/** The members that differ from what the store has. */
const changesOf = (wanted, stored) =>
  Object.fromEntries(Object.entries(wanted).filter(([name, value]) => !isSame(value, stored[name])))

const pause = (seconds) => new Promise((done) => setTimeout(done, seconds * 1_000))

/** Calls the API with the key, and tries again where the answer says that a later try may succeed. */
export function openClient(base, key) {
  return async function call(method, path, body) {
    for (let tries = 1; ; tries++) {
      const response = await fetch(new URL(path, base), {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const answer = await response.json()
      if (response.ok) return answer
      const mayTryAgain = response.status === 429 || response.status === 503
      if (!mayTryAgain || tries === TRIES_MAX) {
        const faults = (answer.issues ?? []).map(({ path, message }) => `${path} ${message}`)
        throw new Error(
          [`${method} ${path}: ${answer.error.code}. ${answer.error.message}`, ...faults].join(
            '\n',
          ),
        )
      }
      await pause(Number(response.headers.get('retry-after') ?? 2))
    }
  }
}

/** The products of the store that are not archived, by their slugs. */
async function readStored(call) {
  const stored = new Map()
  let query = `?limit=${PAGE}`
  for (;;) {
    const page = await call('GET', `${PRODUCTS}${query}`)
    for (const product of page.products) {
      if (product.status !== 'archived') stored.set(product.slug, product)
    }
    if (!page.next_after) return stored
    query = `?limit=${PAGE}&after=${encodeURIComponent(page.next_after)}`
  }
}

function groupBySlug(table) {
  const groups = new Map()
  for (const row of table) {
    const slug = row.slug?.normalize('NFC')
    groups.set(slug, [...(groups.get(slug) ?? []), row])
  }
  return groups
}

/** Imports the table, and answers what was done. Rows of archived products are passed over. */
export async function importProducts(call, table, { isDryRun = false } = {}) {
  const done = { created: 0, updated: 0, unchanged: 0, skipped: 0 }
  const stored = await readStored(call)
  const send = (...request) => (isDryRun ? null : call(...request))
  for (const [slug, rows] of groupBySlug(table)) {
    if (slug === undefined) throw new Error(`Row ${rows[0].row} has no slug.`)
    if (rows[0].status === 'archived') {
      done.skipped += rows.length
      continue
    }
    const product = await importProduct(send, rows[0], stored.get(slug), done)
    for (const row of rows.filter(({ sku }) => sku !== undefined)) {
      await importVariant(send, row, product, done)
    }
  }
  return done
}

async function importProduct(send, row, known, done) {
  const wanted = productOf(row)
  if (known === undefined) {
    const answer = await send('POST', PRODUCTS, defined({ ...wanted, status: row.status }))
    done.created += 1
    return answer?.product ?? { variants: [] }
  }
  const changes = changesOf(wanted, known)
  await update(send, `${PRODUCTS}/${known.id}`, changes, done)
  return known
}

async function importVariant(send, row, product, done) {
  const wanted = variantOf(row)
  const path = `${PRODUCTS}/${product.id}/variants`
  const known = product.variants.find(({ sku }) => sku === wanted.sku)
  if (known === undefined) {
    await send('POST', path, wanted)
    done.created += 1
    return
  }
  if (known.archived_at !== null) {
    done.skipped += 1
    return
  }
  await update(send, `${path}/${known.id}`, changesOf(wanted, known), done)
}

async function update(send, path, changes, done) {
  if (Object.keys(changes).length === 0) {
    done.unchanged += 1
    return
  }
  await send('PATCH', path, changes)
  done.updated += 1
}

async function main() {
  const { FAIRDOCK_URL = 'http://127.0.0.1:8080', FAIRDOCK_KEY } = process.env
  const [file] = process.argv.slice(2).filter((each) => !each.startsWith('--'))
  if (file === undefined || FAIRDOCK_KEY === undefined) {
    throw new Error('Usage: FAIRDOCK_KEY=fdk_... node import-products.mjs products.csv [--dry-run]')
  }
  const table = readTable(await readFile(file, 'utf8'))
  const isDryRun = process.argv.includes('--dry-run')
  const done = await importProducts(openClient(FAIRDOCK_URL, FAIRDOCK_KEY), table, { isDryRun })
  const counts = Object.entries(done).map(([what, count]) => `${count} ${what}`)
  process.stdout.write(`${isDryRun ? 'Would be: ' : ''}${counts.join(', ')}\n`)
}

if (process.argv[1]?.endsWith('import-products.mjs')) {
  main().catch((error) => {
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  })
}
