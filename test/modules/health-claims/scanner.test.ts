import assert from 'node:assert/strict'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { after, describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { scanDocument } from '@fairdock/claim-scanner'
import { ADVERSARIAL } from '../../../bench/claims.ts'
import { ApiError } from '../../../src/errors.ts'
import { createScanner } from '../../../src/modules/health-claims/scanner.ts'
import {
  closeScanner,
  requireClean,
  scan,
  scanText,
} from '../../../src/modules/health-claims/service.ts'

const isUnavailable = (error: unknown) =>
  error instanceof ApiError && error.code === 'scan_unavailable' && error.status === 503

const large = (text = 'plain words ') => ({ body: text.repeat(20_000) })

after(closeScanner)

/** A scanner whose threads run this code. */
function scannerOf(
  t: TestContext,
  code: string,
  options: Omit<Parameters<typeof createScanner>[0], 'workerUrl'> = {},
) {
  const script = `import { parentPort } from 'node:worker_threads'\n${code}`
  const workerUrl = new URL(`data:text/javascript,${encodeURIComponent(script)}`)
  const scanner = createScanner({ workerUrl, ...options })
  t.after(() => scanner.close())
  return scanner
}

const READY = `parentPort.postMessage('ready');`
const answering = (answer: string) =>
  `${READY} parentPort.on('message', ({ id, value }) => parentPort.postMessage(${answer}))`

describe('a scan in a thread', () => {
  test('finds the same as a scan on the event loop', async () => {
    const document = { list: [large('treats cancer, not rust. '), { 'cures gout': 'x' }] }
    assert.deepEqual(await scan(document), scanDocument(document))
  })

  test('serves many callers at once', async () => {
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, i) => scan([large(), i % 2 ? 'cures cancer' : 'coffee'])),
    )
    assert.deepEqual(
      results.map(({ passed }) => passed),
      Array.from({ length: 12 }, (_, i) => i % 2 === 0),
    )
  })

  test('leaves the event loop free', async (t) => {
    await scan(large())
    const documents = [{ text: large('it was a dark night. ') }, large('<b>x</b> &amp; ')]
    const began = performance.now()
    for (const document of documents) scanDocument(document)
    const atOnce = performance.now() - began
    const longest = async () => {
      const delay = monitorEventLoopDelay({ resolution: 1 })
      delay.enable()
      await Promise.all(documents.map((document) => scan(document)))
      delay.disable()
      return delay.max / 1e6
    }
    // A busy machine may stop this process for a while; a scan on its event loop would each time.
    const turns: number[] = []
    const isFree = () => turns.some((ms) => ms < Math.max(150, atOnce / 2))
    while (turns.length < 5 && !isFree()) turns.push(await longest())
    t.diagnostic(`longest turns ${turns.map(Math.round)} ms, at once ${atOnce.toFixed(1)} ms`)
    assert.ok(isFree(), `${turns}`)
  })
})

describe('a scan that does not run to its end is an error and never a pass', () => {
  const FAULTS: Readonly<Record<string, string>> = {
    'a thread that cannot be loaded': `import './nowhere.js'`,
    'a thread that dies at its start': 'process.exit(1)',
    'a thread that throws at its start': `throw new Error('no')`,
    'a thread that dies at work': `${READY} parentPort.on('message', () => process.exit(0))`,
    'a thread that throws at work': `${READY} parentPort.on('message', () => { throw new Error('no') })`,
    'a thread that hangs': `${READY} parentPort.on('message', () => { for (;;); })`,
    'a thread that never answers': `${READY} parentPort.on('message', () => undefined)`,
    'an answer that is null': answering('null'),
    'an answer without a result': answering('{ id }'),
    'an answer that is no result': answering(`{ id, result: { passed: true } }`),
    'an answer for another document': answering(
      `{ id: id + 1, result: { passed: true, findings: [], truncated: false, rulesVersion: 'x' } }`,
    ),
    'an answer by other rules': answering(
      `{ id, result: { passed: true, findings: [], truncated: false, rulesVersion: 'x' } }`,
    ),
    'a thread that never gets ready': `parentPort.on('message', () => undefined)`,
    'a thread that sends an unexpected message': `parentPort.postMessage('hello'); setInterval(() => 0, 1e6)`,
  }
  for (const [name, code] of Object.entries(FAULTS)) {
    test(name, async (t) => {
      const scanner = scannerOf(t, code, { deadlineMs: 100, startMs: 1_000 })
      await assert.rejects(scanner.scan(large()), isUnavailable)
    })
  }

  test('is an error when a passing result names a critical finding', async (t) => {
    const { findings, rulesVersion } = await scanText('cures cancer')
    const result = JSON.stringify({ passed: true, findings, truncated: false, rulesVersion })
    const scanner = scannerOf(t, answering(`{ id, result: ${result} }`))
    await assert.rejects(scanner.scan(large()), isUnavailable)
  })

  test('is an error when the document cannot be sent to a thread or read', async () => {
    const circle: unknown[] = []
    circle.push(circle)
    await assert.rejects(scan(circle), isUnavailable)
    await assert.rejects(scan([large(), () => 0]), isUnavailable)
    const hostile = {
      get text(): string {
        throw new Error('no')
      },
    }
    await assert.rejects(scan(hostile), isUnavailable)
  })

  test('is an error when more documents come than can wait', async (t) => {
    const scanner = scannerOf(t, `${READY} parentPort.on('message', () => undefined)`)
    const document = large()
    const pending = Array.from({ length: 40 }, () => scanner.scan(document))
    const settled = Promise.allSettled(pending)
    await assert.rejects(Promise.race(pending), isUnavailable)
    await scanner.close()
    assert.ok((await settled).every(({ status }) => status === 'rejected'))
  })

  test('is an error when documents wait while a thread does not start', async (t) => {
    const scanner = scannerOf(t, `parentPort.on('message', () => undefined)`, { startMs: 200 })
    const causeOf = (scanned: Promise<unknown>) => scanned.catch((error: ApiError) => error.cause)
    const causes = await Promise.all(
      Array.from({ length: 6 }, () => causeOf(scanner.scan(large()))),
    )
    assert.match(String(causes[0]), /did not start/)
    assert.equal(new Set(causes).size, 1, 'no other thread is tried for them')
  })

  test('is an error when the scanner is closed meanwhile', async (t) => {
    const scanner = scannerOf(t, `${READY} parentPort.on('message', () => undefined)`)
    const pending = assert.rejects(scanner.scan(large()), isUnavailable)
    await scanner.close()
    await pending
  })
})

test('a thread past its deadline is replaced', async (t) => {
  const { rulesVersion } = await scanText('')
  const clean = JSON.stringify({ passed: true, findings: [], truncated: false, rulesVersion })
  const code = `${READY} parentPort.on('message', ({ id, value }) => {
    if (value.hang) for (;;);
    parentPort.postMessage({ id, result: ${clean} })
  })`
  const scanner = scannerOf(t, code, { deadlineMs: 1_000 })
  await assert.rejects(scanner.scan({ hang: true, ...large() }), isUnavailable)
  assert.equal((await scanner.scan(large())).passed, true)
})

describe('requiring a clean document', () => {
  test('answers the warnings', async () => {
    const { findings } = await requireClean({ text: 'A miracle' })
    assert.deepEqual(
      findings.map(({ rule, severity }) => [rule, severity]),
      [['efficacy_hype', 'WARNING']],
    )
  })

  test('refuses a claim and shows the findings', async () => {
    await assert.rejects(requireClean({ text: 'Cures cancer' }), (error) => {
      assert.ok(error instanceof ApiError)
      assert.equal(error.code, 'ruo_claims_violation')
      assert.equal(error.status, 422)
      assert.deepEqual(error.body, { findings: scanDocument({ text: 'Cures cancer' }).findings })
      return true
    })
  })

  test('reports a truncated list of findings', async () => {
    await assert.rejects(requireClean(new Array(300).fill('Cures cancer')), (error) => {
      assert.ok(error instanceof ApiError)
      assert.equal(error.body.truncated, true)
      return true
    })
  })

  test('rejects if the scan could not run', async (t) => {
    const scanner = scannerOf(t, 'process.exit(1)')
    await assert.rejects(requireClean(large(), { scanner }), isUnavailable)
  })
})

describe('a document made to be slow', () => {
  for (const [name, make] of Object.entries(ADVERSARIAL)) {
    test(`is scanned in time: ${name}`, (t) => {
      const document = make()
      const started = performance.now()
      scanDocument(document)
      const took = performance.now() - started
      t.diagnostic(`${took.toFixed(0)} ms`)
      // Quadratic work would take minutes. A busy machine takes many times the usual time.
      assert.ok(took < 30_000)
    })
  }
})

test('waiting documents of one store leave room for those of other stores', async (t) => {
  const scanner = scannerOf(t, `${READY} parentPort.on('message', () => {})`, { deadlineMs: 300 })
  const outcome = (store: string) =>
    scanner.scan(large(), store).then(
      () => 'passed',
      (error: ApiError) => String((error.cause as Error).message),
    )
  const greedy = Array.from({ length: 30 }, () => outcome('acme'))
  const other = outcome('globex')
  assert.match((await greedy.at(-1)) ?? '', /of one store/)
  assert.doesNotMatch(await other, /too much/)
  await Promise.all(greedy)
})

test('the time of a scan counts as use of its store, and the start of a thread does not', async (t) => {
  const told: [store: string, ms: number][] = []
  const onScanned = (store: string, ms: number) => told.push([store, ms])
  const slowToStart = `setTimeout(() => { ${READY} }, 2_000); parentPort.on('message', () => {})`
  const scanner = scannerOf(t, slowToStart, { deadlineMs: 200, onScanned })
  const began = performance.now()
  // It is ended for taking too long, and counts all the same.
  await assert.rejects(scanner.scan(large(), 'acme'), isUnavailable)
  const took = performance.now() - began
  await scanner.scan('short', 'globex')
  assert.deepEqual(
    told.map(([store]) => store),
    ['acme', 'globex'],
  )
  const [[, ms]] = told as [[string, number]]
  assert.ok(ms > 150 && ms < took - 1_500, `${ms} of ${took} ms`)
})

test('a large document waits for the share of its store, and a short one does not', async (t) => {
  const turn = Promise.withResolvers<void>()
  const asked: string[] = []
  const pace = (store: string) => {
    asked.push(store)
    return turn.promise
  }
  const scanner = createScanner({ pace })
  t.after(() => scanner.close())
  assert.equal((await scanner.scan('short', 'acme')).passed, true)
  assert.deepEqual(asked, [])
  let isOver = false
  const scan = scanner.scan(large(), 'acme').finally(() => {
    isOver = true
  })
  await sleep(200)
  assert.deepEqual([asked, isOver], [['acme'], false])
  turn.resolve()
  assert.ok(await scan)
})
