import { monitorEventLoopDelay } from 'node:perf_hooks'
import { scanDocument } from '@fairdock/claim-scanner'
import { closeScanner, scan } from '../src/modules/health-claims/service.ts'
import type { Figure } from './figure.ts'

const MEBIBYTE = 1_048_576

const COPY = [
  'Our house blend is roasted in small batches every Tuesday and shipped the same afternoon.',
  'All compounds are sold for laboratory research use only. Not for human consumption.',
  'Stainless steel, hand finished; care: wipe clean with a dry cloth & keep away from salt water.',
  '<p>Free delivery on orders over <b>$50</b>. Returns within 30 days, no questions asked.</p>',
  'Ein Klassiker für jede Küche: scharf, leicht und aus einem Stück geschmiedet.',
  'Dimensions 250 mm x 120 mm, weight 1.2 kg, ships in 2 to 3 days from our own warehouse.',
]

const fill = (text: string, bytes = MEBIBYTE) => text.repeat(Math.ceil(bytes / text.length))

const copy = (index: number) => COPY[index % COPY.length] ?? ''

function manifest(): unknown {
  const sections = Array.from({ length: 2_200 }, (_, i) => ({
    type: 'text',
    id: `section-${i}`,
    heading: copy(i).slice(0, 40),
    body: [copy(i), copy(i + 1), copy(i + 2), copy(i + 3)].join(' '),
  }))
  return { theme: { colour: '#223344' }, sections }
}

const deep = () => {
  let value: unknown = fill('plain words and then some ', MEBIBYTE / 2)
  for (let level = 0; level < 64; level += 1)
    value = { [`level ${level}`]: value, text: copy(level) }
  return value
}

const SCRIPTS = {
  Russian:
    'Чайник из нержавеющей стали, 1,7 литра. Бесплатная доставка при заказе от 3000 рублей. ',
  Chinese: '不锈钢水壶，容量1.7升，适合日常使用。订单满300元免运费，七天内可退货。',
  Japanese: 'ステンレス製のケトル、容量1.7リットル。5000円以上のご注文で送料無料です。',
  Arabic: 'غلاية من الفولاذ المقاوم للصدأ بسعة ١٫٧ لتر. التوصيل مجاني للطلبات فوق ٢٠٠ ريال. ',
}

/** Typical documents of a store, of about a mebibyte. */
export const ORDINARY: Readonly<Record<string, () => unknown>> = {
  'realistic manifest': manifest,
  'many small strings': () => Array.from({ length: 100_000 }, (_, i) => copy(i).slice(0, 10)),
  'one huge string': () => fill(COPY.join(' ')),
  ...Object.fromEntries(
    // A character of these scripts has two or three bytes.
    Object.entries(SCRIPTS).map(([name, text]) => [
      `${name} text`,
      () => fill(text, (MEBIBYTE * text.length) / Buffer.byteLength(text)),
    ]),
  ),
}

/** Documents that are built to be slow. */
export const ADVERSARIAL: Readonly<Record<string, () => unknown>> = {
  'alternating marks, 300 KiB': () => fill('\u0300\u0316', 300 * 1_024),
  'marks on a claim': () => `cures ${fill('\u0300\u0316')} cancer`,
  'ligatures that expand eighteenfold': () => fill('\ufdfa'),
  'nested entities': () => fill('&amp;amp;amp;lt;'),
  ampersands: () => fill('&'),
  'open brackets': () => fill('<'),
  'open tags': () => fill('<a b="'),
  'open comments': () => fill('<!--'),
  'open quotes': () => fill(`<a b="><a c='>`),
  'spaced letters': () => fill('t '),
  'spaced beginnings of words': () => fill('t r e a t '),
  'one long word': () => fill('treats'),
  'one long word of signs': () => fill('c-u-r-3-'),
  'denials without end': () => fill('is prohibited not '),
  'claims without end': () => fill('treats cancer '),
  'claims in a row without a break': () => fill('treats not cures heals never pain '),
  percent: () => fill('%63%75%72'),
  backslashes: () => fill('\\\\\\u'),
  'escapes of program texts': () => fill('\\u0063\\u{75}\\x72'),
  'hyphens at the ends of lines': () => fill('in-\nflam-\nma-\n'),
  'parts of a divided word': () => fill(`t-\n${' '.repeat(60)}r-\n`),
  'doubled letters': () => fill('caancceerr '),
  'words with the same letters': () => fill('cnacer dibaetes tretas '),
  'claims in Chinese without end': () => fill('治疗癌症每天服用两粒胶囊', MEBIBYTE / 3),
  'beginnings of Chinese words': () => fill('食品药品监督管', MEBIBYTE / 3),
  'Arabic prefixes': () => fill('وفبكللل ', MEBIBYTE / 2),
  'one long Russian word': () => fill('лечение', MEBIBYTE / 2),
  digits: () => fill('1,'),
  'every plane': () =>
    Array.from({ length: 260_000 }, (_, i) => String.fromCodePoint(0x10000 + i * 3)).join(''),
  'deep nesting': deep,
}

interface Timing {
  cpuMs: number
  longestBlockMs: number
}

/** Warm-up scans: the first few pay for the compilation. */
const WARM_UP_SCANS = 3

/**
 * The CPU time of one scan by a warm scanner, as the median of five, and the longest time it
 * blocked the event loop.
 */
async function measure(value: unknown, run: (value: unknown) => unknown): Promise<Timing> {
  for (let round = 0; round < WARM_UP_SCANS; round += 1) await run(value)
  const delay = monitorEventLoopDelay({ resolution: 1 })
  const times: number[] = []
  delay.enable()
  for (let round = 0; round < 5; round += 1) {
    const before = process.threadCpuUsage()
    await run(value)
    const { user, system } = process.threadCpuUsage(before)
    times.push((user + system) / 1_000)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  delay.disable()
  times.sort((a, b) => a - b)
  return { cpuMs: times[2] ?? 0, longestBlockMs: delay.max / 1e6 }
}

async function figures(
  kind: string,
  documents: Readonly<Record<string, () => unknown>>,
  boundMs: number,
): Promise<Figure[]> {
  const all: Figure[] = []
  for (const [name, make] of Object.entries(documents)) {
    const value = make()
    const { cpuMs } = await measure(value, scanDocument)
    const { longestBlockMs } = await measure(value, scan)
    all.push({
      name: `claim scan, ${kind}: ${name}`,
      ours: `${cpuMs.toFixed(0)} ms, event loop held ${longestBlockMs.toFixed(0)} ms`,
      floor: `${boundMs} ms, 50 ms`,
      holds: cpuMs <= boundMs && longestBlockMs <= 50,
    })
  }
  return all
}

/** A mebibyte of text: the cost of the rules, and that the event loop is not blocked. */
export async function claimScan(): Promise<Figure[]> {
  try {
    return [
      ...(await figures('ordinary', ORDINARY, 150)),
      ...(await figures('worst', ADVERSARIAL, 250)),
    ]
  } finally {
    await closeScanner()
  }
}
