import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findLostDecisions, findOldList } from './decisions.ts'

/** A rule for text that may be written in one place only, and that no import rule can find. */
interface Rule {
  name: string
  /** The files it is about; TypeScript where it does not say. */
  files?: RegExp
  /** Also in tests, scripts and benchmarks. */
  everywhere?: true
  /** What must not be written, also over several lines ... */
  forbidden: RegExp
  /** ... except here, each place with its reason. */
  allowed: readonly (readonly [path: RegExp, why: string])[]
}

/** Every name that PostgreSQL and JavaScript have for the time of the machine, but for stopwatches. */
const TIME_OF_THE_MACHINE = new RegExp(
  [
    /(?<![\w.])now\(\)/,
    /\b(?:clock|statement|transaction)_timestamp\b/,
    /\b(?:current_(?:timestamp|date|time)|localtime(?:stamp)?)\b/,
    /'now'::/,
    /\bDate\.now\b/,
    /\bnew Date\(\)/,
  ]
    .map(({ source }) => source)
    .join('|'),
)

/** The folders of the adapters of real gateways. */
function listGateways(): string[] {
  const folder = new URL('../src/modules/payments/adapters/', import.meta.url)
  return readdirSync(folder, { withFileTypes: true })
    .filter((each) => each.isDirectory() && each.name !== 'simulated')
    .map(({ name }) => name)
}

/** Names in every spelling that code has: `nmi-http`, `openNmi`, `NMI_URL`. */
const namesOf = (names: readonly string[]): RegExp =>
  new RegExp(
    names
      .flatMap((name) => [
        `\\b${name}`,
        name.charAt(0).toUpperCase() + name.slice(1),
        `\\b${name.toUpperCase()}`,
      ])
      .join('|'),
  )

export const RULES: readonly Rule[] = [
  {
    name: 'only config.ts reads the environment',
    forbidden: /process\.env/,
    allowed: [
      [/^src\/config\.ts$/, 'that is what it is for'],
      [
        /^packages\/embedded-postgres\/src\/home\.ts$/,
        'hands PATH on to the server; reads no setting of ours',
      ],
    ],
  },
  {
    name: 'only createLogger() of platform/log.ts makes a log, which keeps the fields of errors out',
    forbidden: /\bpino\(/,
    allowed: [[/^src\/platform\/log\.ts$/, 'that is what it is for']],
  },
  {
    name: 'only queries.ts, platform/ and db/ write SQL',
    forbidden: /\bsql`/,
    allowed: [
      [
        /^src\/modules\/[^/]+\/(adapters\/[a-z-]+\/)?([a-z-]+-)?queries\.ts$/,
        "a module's statements",
      ],
      [/^src\/(platform|db)\//, 'what all modules stand on'],
    ],
  },
  {
    name: 'the ledger is posted to only from money.ts',
    forbidden: /\bledger\.post(?:All)?\b/,
    allowed: [[/^src\/modules\/[^/]+\/[a-z-]*money\.ts$/, 'where money moves']],
  },
  {
    name: 'a real gateway is named in its adapter and in the list of adapters alone (decision 0076)',
    files: /\.[jt]s$/,
    forbidden: namesOf(listGateways()),
    allowed: [
      [
        new RegExp(`^src/modules/payments/adapters/((${listGateways().join('|')})/|all\\.ts$)`),
        'the adapters themselves, and the list',
      ],
    ],
  },
  {
    name: 'what shipping costs is worked out by manifest/shipping.ts, and read in one place each',
    forbidden: /\b(?:flat|expedited)_rate_cents\b/,
    allowed: [
      [/^manifest\/(policies|shipping)\.ts$/, 'what a policy is, and what it comes to'],
      [/^src\/modules\/shipping\/(schema|terms)\.ts$/, 'the same as requests and orders have it'],
      [/^src\/demo-site\.ts$/, 'writes the manifests of the demo stores'],
    ],
  },
  {
    name: 'no barrels: an importer names the file that has what it needs',
    forbidden: /^export (?:type )?(?:\*|\{.*\}) .*from /,
    allowed: [],
  },
  {
    name: 'no literal is spread into another: its members are written plainly',
    everywhere: true,
    forbidden: /\.\.\.\{(?:\s|$)/,
    allowed: [[/^test\/scripts\/(imports|test-names)\.test\.ts$/, 'has texts that break rules']],
  },
  {
    name: 'comments are wrapped at 120 columns',
    everywhere: true,
    forbidden: /^(?=.{121})[ \t]*(?:\/\*|\*|\/\/)/,
    allowed: [],
  },
  {
    name: 'a comment names its subject: no "whoever", "nobody", "somebody" or "anybody"',
    everywhere: true,
    forbidden: /^[ \t]*(?:\/\*|\*|\/\/).*\b(?:whoever|nobody|somebody|anybody)\b/i,
    allowed: [],
  },
  {
    name: 'a comment names its noun: "without a policy" or "if no row is due" for "where there is none"',
    files: /\.(?:ts|js|sql)$/,
    everywhere: true,
    forbidden:
      /^[ \t]*(?:\/\*|\*|\/\/|--).*\b(?:where (?:none|(?:there|they|it) (?:is|are) none)|how far (?:they are|it is)|what is no)\b/i,
    allowed: [],
  },
  {
    name: 'the name of a test names its noun: "a bad charge" for "what is no charge"',
    files: /^test\/.*\.ts$/,
    everywhere: true,
    forbidden:
      /\b(?:it|test)\(\s*[`'"][^`'"\n]*\b(?:what is no|(?:that|which) (?:is|are) none|where (?:there|they|it) (?:is|are) none)\b/,
    allowed: [[/^test\/scripts\/(?:imports|test-names)\.test\.ts$/, 'has texts that break rules']],
  },
  {
    name: 'the units of time are those of kernel/time.ts',
    everywhere: true,
    forbidden: /^(?:export )?const (?:MINUTE|HOUR|DAY)(?:_MS|_SECONDS)? = \d/,
    allowed: [
      [/^src\/kernel\/time\.ts$/, 'defines them'],
      [/^storefront\//, 'imports nothing of the platform'],
    ],
  },
  {
    name: 'the name of a test stands alone: a line of a failure must say what is guaranteed',
    files: /^test\/.*\.ts$/,
    everywhere: true,
    forbidden: /\b(?:it|test)\(\s*[`'"](?:and|by|for|in|of|that|which|who|whose|with)\b/,
    allowed: [[/^test\/scripts\/(?:imports|test-names)\.test\.ts$/, 'has texts that break rules']],
  },
  {
    name: 'a test looks at the locks and backends of its own database: others run beside it',
    files: /^test\/.*\.ts$/,
    everywhere: true,
    forbidden: /\b(?:pg_stat_activity|pg_locks)\b(?![^`]*\bcurrent_database\(\))/,
    allowed: [
      [/^test\/torture\//, 'one drill runs at a time'],
      [/^test\/scripts\/imports\.test\.ts$/, 'has texts that break rules'],
    ],
  },
  {
    name: 'no statement sets anything for a whole session',
    forbidden: /sql`\s*set (?!local|transaction)/i,
    allowed: [],
  },
  {
    name: 'rows to lock are chosen in an array: PostgreSQL may read `in (select ...)` many times',
    forbidden: /\bin \(\s*select\b[^`]*\bskip locked\b/,
    allowed: [],
  },
  {
    name: 'a page of a list is read by readList() of db/list.ts',
    forbidden: /\boffset \$\{|\bcount\(\*\)(?:::\w+)? as total\b/,
    allowed: [
      [/^src\/db\/list\.ts$/, 'the helper itself'],
      [/^src\/modules\/catalog\/(public-)?queries\.ts$/, 'pages of products also end by bytes'],
    ],
  },
  {
    name: 'time is fd_now() or a Clock (business), machineTime or machineNow() (machine)',
    forbidden: TIME_OF_THE_MACHINE,
    allowed: [
      [/^src\/kernel\/clock\.ts$/, 'defines machineNow()'],
      [/^src\/db\/sql\.ts$/, 'defines machineTime'],
      [
        /^src\/db\/(migrate|server-facts|storage-facts)\.ts$/,
        'speaks to a database that may have no fd_now()',
      ],
      [/^storefront\//, 'has no clock of a store: it shows, and the API decides what is due'],
      [/^packages\/embedded-postgres\//, 'starts a database, and knows no store'],
    ],
  },
  {
    name: 'the id of a row is newId() or fd_uuid(); random uuids are for secrets and names',
    forbidden: /\b(?:randomUUID|gen_random_uuid)\b/,
    allowed: [
      [/^src\/kernel\/id\.ts$/, 'defines newId()'],
      [/^src\/platform\/(leases|idempotency|mail)\.ts$/, 'lease tokens'],
      [/^src\/modules\/webhooks\/dispatch-queries\.ts$/, 'lease tokens'],
      [
        /^src\/modules\/payments\/adapters\/simulated\/gateway\.ts$/,
        'tokens of stored cards, which can be charged',
      ],
      [/^src\/http\/(live|server|sockets)\.ts$/, 'correlation ids, which no index has'],
      [/^src\/platform\/(blobs-disk|live-cache-listener)\.ts$/, 'names of files and of probes'],
      [/^src\/modules\/media\/pending-uploads\.ts$/, 'names of files'],
      [/^src\/modules\/sites\/live-reads\.ts$/, 'a name that no store has'],
      [/^storefront\/shopper\/shopper\.ts$/, 'names a shopper, and so is a secret'],
    ],
  },
  {
    name: 'no id has a random default: new rows would be spread over the whole index',
    files: /^generated\/schema\.sql$/,
    forbidden: /default gen_random_uuid\(\)/,
    allowed: [],
  },
]

const TYPESCRIPT = /\.ts$/

/** What runs for users, and the database. */
const PRODUCT = /^(?:packages\/[^/]+\/src|src|storefront|manifest)\/|^generated\/schema\.sql$/

const LINES_MAX = 500

export interface Source {
  path: string
  text: string
}

/** Each breach as one line: where, and which rule. */
export const findBreaches = (sources: readonly Source[]): string[] => [
  ...findInFiles(sources),
  ...findAliases(sources.filter(({ path }) => PRODUCT.test(path))),
]

/**
 * Names that two modules are imported under: `import * as orders` is always the module orders. A file beside the
 * importing one may have any name but that of another module.
 */
function findAliases(sources: readonly Source[]): string[] {
  const modules = new Map(listModules(sources).map((module) => [toCamelCase(module), module]))
  return sources.flatMap(({ path, text }) =>
    [...text.matchAll(/^import \* as (\w+) from '(\.[^']+)'/gm)].flatMap(
      ([, alias = '', from = '']) => {
        const module = moduleOf(posix.join(posix.dirname(path), from))
        const known = modules.get(alias)
        if (module === undefined || known === module) return []
        if (known !== undefined) return [`${path}: ${alias} is ${known} elsewhere, not ${module}`]
        if (module !== moduleOf(path)) modules.set(alias, module)
        return []
      },
    ),
  )
}

const moduleOf = (path: string): string | undefined => /^src\/modules\/([^/]+)\//.exec(path)?.[1]

const listModules = (sources: readonly Source[]): string[] => [
  ...new Set(sources.flatMap(({ path }) => moduleOf(path) ?? [])),
]

const toCamelCase = (name: string): string =>
  name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

function findInFiles(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, text }) => {
    const rules = RULES.filter(
      ({ files = TYPESCRIPT, everywhere, allowed }) =>
        files.test(path) &&
        (everywhere || PRODUCT.test(path)) &&
        !allowed.some(([where]) => where.test(path)),
    )
    return rules.flatMap(({ name, forbidden }) =>
      [...text.matchAll(new RegExp(forbidden, `gm${forbidden.flags}`))].map(
        ({ index }) => `${path}:${lineAt(text, index)}: ${name}`,
      ),
    )
  })
}

/** Files that are too long to be about one thing. */
export const findLong = (sources: readonly Source[]): string[] =>
  sources
    .filter(({ text }) => lineAt(text, text.length) > LINES_MAX + 1)
    .map(({ path }) => `${path}: longer than ${LINES_MAX} lines`)

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length

/** Files that a page names and that do not exist: a renamed test would leave a promise without proof. */
export const findLostNames = (
  pages: readonly Source[],
  exists: (path: string) => boolean,
): string[] =>
  pages.flatMap(({ path, text }) =>
    [
      ...text.matchAll(/`((?:packages|src|storefront|test|scripts|bench|migrations)\/[\w./-]+)`/g),
    ].flatMap(([, name = '']) => (exists(name) ? [] : [`${path}: there is no ${name}`])),
  )

/** A link to a file beside the page: neither to another host, nor to a path of one, nor within the page. */
const RELATIVE_LINK = /\]\((?![a-z]+:|[/#])([^)\s#]+)[^)]*\)/g

/** Relative links of a page to files that do not exist. */
export const findLostLinks = (
  pages: readonly Source[],
  exists: (path: string) => boolean,
): string[] =>
  pages.flatMap(({ path, text }) =>
    [...text.matchAll(RELATIVE_LINK)].flatMap(([, link = '']) =>
      exists(posix.join(posix.dirname(path), link))
        ? []
        : [`${path}: the link ${link} leads nowhere`],
    ),
  )

function readSources(root: string, patterns: string[]): Source[] {
  return globSync(patterns, { cwd: root }).map((path) => ({
    path: path.replaceAll('\\', '/'),
    text: readFileSync(`${root}/${path}`, 'utf8'),
  }))
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const all = readSources(root, [
    '{packages,src,storefront,manifest,test,scripts,bench}/**/*.ts',
    'storefront/browser/*.js',
    'generated/schema.sql',
  ])
  const sources = all.filter(({ path }) => TYPESCRIPT.test(path))
  const pages = readSources(root, ['*.md', '{.github,docs,examples,packages}/**/*.md'])
  const exists = (path: string) => existsSync(`${root}/${path}`)
  const breaches = [
    ...findBreaches(all),
    ...findLong(sources),
    ...findLostNames(pages, exists),
    ...findLostLinks(pages, exists),
    ...findLostDecisions(pages, sources),
    ...findOldList(pages),
  ]
  for (const breach of breaches) process.stderr.write(`${breach}\n`)
  process.stdout.write(`house rules: ${sources.length} files, ${breaches.length} breaches\n`)
  process.exitCode = breaches.length > 0 || sources.length < 20 ? 1 : 0
}
