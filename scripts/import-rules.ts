import type { IForbiddenRuleType } from 'dependency-cruiser'

/**
 * The one import rule, as data: an import points to the right, never back.
 *
 *   main > app, worker > modules > http > platform > db > errors > error-codes > kernel     (folders)
 *   routes > jobs > money > service > queries > schema                        (files of one module)
 *
 * A module may enter another only if that stands on a lower tier, and not by its queries, jobs or routes.
 * Files of one level may import each other, without circles.
 */

const LAYERS = ['kernel', 'error-codes', 'errors', 'db', 'platform', 'http', 'modules']

const TIERS = [
  ['ledger', 'claims', 'entitlements'],
  ['stores'],
  ['identity', 'customers', 'media', 'domains', 'webhooks', 'gateway'],
  ['credentials', 'sites', 'payments', 'gift-cards', 'store-credit', 'fraud', 'affiliates'],
  ['catalog', 'operations', 'campaigns'],
  ['inventory', 'marketing'],
  ['pricing'],
  ['orders', 'feeds'],
  ['order-changes', 'order-links'],
  ['subscriptions', 'fulfillment', 'returns', 'purchasing'],
  ['documents', 'segments'],
  ['checkout', 'carriers', 'shopper-mail'],
  ['renewals', 'reminders'],
  ['views', 'analytics', 'billing', 'test-clock'],
]

/** The levels of a module's files, the lowest first; `refund-money.ts` is on the level of `money.ts`. */
const LEVELS = ['schema', 'queries', 'service', 'money', 'jobs', 'routes']

const any = (names: readonly string[]) => `(${names.join('|')})`

/** The files of a layer: a folder, or for `errors` a file. */
const layer = (name: string) => `^src/${name}(/|\\.ts$)`

const layerRules: IForbiddenRuleType[] = LAYERS.map((name, index) => ({
  name: `${name} imports only what is below it`,
  severity: 'error',
  from: { path: layer(name) },
  to: {
    path: '^src/',
    pathNot: LAYERS.slice(0, index + 1).map(layer),
  },
}))

/** A pattern for the end of a path on a level. A file named for no level, as `claims/fold.ts`, is on `service`. */
const level = (name: string) => {
  const others = any(LEVELS.filter((each) => each !== 'service'))
  return name === 'service' ? `(?![a-z0-9/-]*${others}\\.ts$)` : `[a-z0-9/-]*${name}\\.ts$`
}

const levelRules: IForbiddenRuleType[] = LEVELS.map((name, index) => ({
  name: `${name} files import only their level and those below it in their module`,
  severity: 'error',
  from: { path: `^src/modules/([^/]+)/${level(name)}` },
  to: {
    path: '^src/modules/$1/',
    pathNot: LEVELS.slice(0, index + 1).map((each) => `^src/modules/$1/${level(each)}`),
  },
}))

const tierRules: IForbiddenRuleType[] = TIERS.map((modules, index) => ({
  name: `modules of tier ${index + 1} enter only lower tiers`,
  severity: 'error',
  from: { path: `^src/modules/${any(modules)}/` },
  to: {
    path: '^src/modules/([^/]+)/',
    pathNot: [
      '^src/modules/$1/',
      ...(index === 0 ? [] : [`^src/modules/${any(TIERS.slice(0, index).flat())}/`]),
    ],
  },
}))

export const FORBIDDEN: IForbiddenRuleType[] = [
  ...layerRules,
  ...levelRules,
  ...tierRules,
  {
    name: 'a module stands on a tier',
    severity: 'error',
    from: { path: '^src/modules/', pathNot: `^src/modules/${any(TIERS.flat())}/` },
    to: {},
  },
  {
    name: 'only routes.ts knows HTTP',
    severity: 'error',
    from: { path: '^src/modules/', pathNot: '[/-]routes\\.ts$' },
    to: { path: ['^src/http/', '^fastify$', 'node_modules/fastify/'] },
  },
  {
    name: 'queries, jobs and routes are for their own module',
    severity: 'error',
    from: { path: '^src/modules/([^/]+)/' },
    to: {
      path: '^src/modules/[^/]+/[a-z-]*(queries|jobs|routes)\\.ts$',
      pathNot: '^src/modules/$1/',
    },
  },
  {
    name: 'schema, queries and service files never enter the money of another module',
    severity: 'error',
    from: {
      path: ['schema', 'queries', 'service'].map((each) => `^src/modules/([^/]+)/${level(each)}`),
    },
    to: { path: `^src/modules/[^/]+/${level('money')}`, pathNot: '^src/modules/$1/' },
  },
  {
    name: 'the storefront knows the platform by HTTP alone',
    severity: 'error',
    from: { path: '^storefront/' },
    to: { path: '^(src|test|bench|scripts)/' },
  },
  {
    name: 'the storefront is entered by one door',
    severity: 'error',
    from: { path: '^src/', pathNot: '^src/storefront\\.ts$' },
    to: { path: '^storefront/' },
  },
  {
    name: 'the description of manifests imports nothing of ours',
    severity: 'error',
    from: { path: '^manifest/' },
    to: { path: '^(src|storefront|test|bench|scripts)/' },
  },
  {
    name: 'the process loads what serves only to serve',
    severity: 'error',
    from: { path: '^src/main\\.ts$' },
    to: {
      path: '^src/((app|demo|runtime|serve|worker)\\.ts$|modules/)',
      dynamic: false,
      dependencyTypesNot: ['type-only'],
    },
  },
  { name: 'no circles', severity: 'error', from: {}, to: { circular: true } },
  {
    name: 'nothing imports a test',
    severity: 'error',
    from: { path: '^src/' },
    to: { path: '^(test|bench|scripts)/' },
  },
  {
    name: 'every import is found',
    severity: 'error',
    from: {},
    to: { couldNotResolve: true },
  },
  {
    name: 'src runs on dependencies alone',
    severity: 'error',
    from: { path: '^src/' },
    to: {
      dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
      dependencyTypesNot: ['type-only'],
    },
  },
]
