/** The help text of one role of the process, for `fairdock help` and for the check of the role's name. */
interface RoleHelp {
  summary: string
  /** The arguments of the role, as they are typed. */
  usage?: string
  details: string
}

/**
 * The roles of the process. `serve` is API, worker and storefront in one; `api`, `worker` and
 * `storefront` run each alone; `migrate`, `seed`, `doctor`, `verify-ledger` and `analytics` end when
 * they are done. `listen` is for developers of webhook receivers, and needs no database.
 */
export const ROLES = {
  serve: {
    summary: 'API, worker and storefront in one process',
    details: `Listens on HOST and PORT (default http://127.0.0.1:8080). Without DATABASE_URL it runs its own
PostgreSQL in DATA_DIR (default .data). In development it also creates the demo stores.
Stop it with Ctrl-C or SIGTERM.`,
  },
  api: {
    summary: 'the API alone',
    details: 'Start as many as you need. Background work is done by the role worker.',
  },
  worker: {
    summary: 'the background loops alone',
    details: 'Start as many as you need: work is taken by lease, so no row is worked on twice.',
  },
  storefront: {
    summary: 'the pages of the stores alone',
    details:
      'Needs no database: STOREFRONT_API_URL names the platform, STOREFRONT_TOKEN is its token.',
  },
  migrate: {
    summary: 'brings the database up to date, and ends',
    details: 'Applies the migrations that are missing, and says how many. Safe to run at any time.',
  },
  seed: {
    summary: 'creates the demo stores, and ends',
    details: `Only where there is no store yet; says what it created. Their credentials are in DATA_DIR/demo.json.
With NODE_ENV=development it also fills them with products.`,
  },
  doctor: {
    summary: 'checks the installation and says what to do',
    details: 'Changes nothing. Ends with 1 if a check failed.',
  },
  'verify-ledger': {
    summary: 'verifies ledgers from their first journal',
    usage: '[store] [--accept]',
    details: `Verifies every store, or the one that is named. Ends with 1 if one does not verify.

  --accept   accepts the ledger as it is, where only the record of its verification is wrong`,
  },
  analytics: {
    summary: 'counts the figures of a store again, and ends',
    usage: 'rebuild [store]',
    details: `Counts the figures of every store, or of the one that is named, again from the first journal of its
ledger. The figures of before are shown until the new ones are ready.`,
  },
  listen: {
    summary: "forwards a store's events to a developer's machine",
    usage: '[options]',
    details: '',
  },
} as const satisfies Record<string, RoleHelp>

export type Role = keyof typeof ROLES

export const isRole = (name: string): name is Role => Object.hasOwn(ROLES, name)

const isHelp = (text: string | undefined) => text === 'help' || text === '--help' || text === '-h'

/**
 * Finds the help that the arguments request: `help`, `help <role>`, `<role> --help`, or no argument at all. Returns
 * null where they request something else. It needs no configuration, since a reader of help may not have one yet.
 */
export function findHelp([first, ...rest]: readonly string[]): 'all' | Role | null {
  if (first === undefined) return 'all'
  if (isHelp(first)) return rest[0] !== undefined && isRole(rest[0]) ? rest[0] : 'all'
  // After the role `help` the next argument may be a name, such as that of a store.
  return isRole(first) && rest.some((each) => isHelp(each) && each !== 'help') ? first : null
}

const WIDTH = Math.max(...Object.keys(ROLES).map((name) => name.length))

/** Writes the text about every role. */
export function describeAll(): string {
  const lines = Object.entries(ROLES).map(
    ([name, { summary }]) => `  ${name.padEnd(WIDTH)}   ${summary}`,
  )
  return `fairdock <role> [options]

${lines.join('\n')}

fairdock help <role> says more about one of them. Settings come from the environment and are listed in
docs/reference/configuration.md; none is needed to try it: fairdock serve.
`
}

/** Writes the text about one role. */
export function describeRole(role: Role): string {
  const { summary, details, usage }: RoleHelp = ROLES[role]
  const typed = usage === undefined ? '' : ` ${usage}`
  return `fairdock ${role}${typed}: ${summary}\n\n${details}\n`
}
