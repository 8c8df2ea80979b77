import type pg from 'pg'

/**
 * The migrated database as text: one paragraph for each object, sorted by name (decision 0070).
 *
 * It is read from the catalogs, because the embedded server has no `pg_dump`. It looks like SQL,
 * for people and for comparing; it is not meant to be run.
 */
export async function dumpSchema(client: pg.Client): Promise<string> {
  await client.query('begin isolation level repeatable read, read only')
  try {
    // Names of this schema are then written without the schema.
    await client.query('set local search_path = public, pg_temp')
    const paragraphs: string[] = []
    for (const list of [EXTENSIONS, ROLES, SEQUENCES]) paragraphs.push(...(await list(client)))
    paragraphs.push(...(await listTables(client)), ...(await FUNCTIONS(client)))
    return `${[HEADER, ...paragraphs].join('\n\n')}\n`
  } finally {
    await client.query('rollback')
  }
}

const HEADER =
  '-- The migrated database, written from its catalogs. The migrations are what is run.'

/** Sorts by code point and not by the server's collation: the same order everywhere. */
const byCodePoint = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

interface Line {
  /** The object that a line belongs to. */
  object: string
  line: string
}

async function read(client: pg.Client, text: string): Promise<Line[]> {
  const { rows } = await client.query<Line>(text)
  return rows.sort((a, b) => byCodePoint(a.object, b.object) || byCodePoint(a.line, b.line))
}

const paragraphs = (text: string) => async (client: pg.Client) =>
  (await read(client, text)).map(({ line }) => line)

/** A condition that leaves out what extensions created. */
const outsideExtension = (catalog: string, alias: string) => `
  not exists (select from pg_depend e
               where e.classid = '${catalog}'::regclass and e.objid = ${alias}.oid
                 and e.deptype = 'e')`

/**
 * The grants on an object to others than its owner, as the end of a paragraph. PostgreSQL 17 added
 * `maintain`, which we grant to no role.
 */
const grants = (acl: string, kind: string, owner: string, on: string) => `
  coalesce((select string_agg(entry, '' order by entry collate "C")
     from (select format(E'\\ngrant %s on %s to %s;',
                         string_agg(lower(g.privilege_type), ', ' order by g.privilege_type),
                         ${on}, coalesce(r.rolname, 'public')) as entry
             from aclexplode(coalesce(${acl}, acldefault('${kind}', ${owner}))) as g
             left join pg_roles r on r.oid = g.grantee
            where g.grantee <> ${owner} and g.privilege_type <> 'MAINTAIN'
            group by r.rolname) as entries), '')`

const EXTENSIONS = paragraphs(`
  select extname as object, format('create extension %s;', extname) as line
    from pg_extension where extname <> 'plpgsql'`)

const ROLES = paragraphs(`
  select r.rolname as object,
         concat_ws(' ', 'create role', r.rolname,
                   case when r.rolcanlogin then 'login' else 'nologin' end,
                   case when r.rolsuper then 'superuser' end,
                   case when r.rolbypassrls then 'bypassrls' end,
                   case when r.rolcreaterole then 'createrole' end,
                   case when r.rolcreatedb then 'createdb' end,
                   case when r.rolreplication then 'replication' end) || ';'
         || coalesce((select string_agg(format(E'\\nalter role %s set %s;', r.rolname, setting), ''
                                        order by setting collate "C")
                        from pg_db_role_setting s, unnest(s.setconfig) as setting
                       where s.setrole = r.oid and s.setdatabase = 0), '')
         || coalesce((select string_agg(format(E'\\ngrant %s to %s;', held.rolname, r.rolname), ''
                                        order by held.rolname collate "C")
                        from (select distinct roleid from pg_auth_members where member = r.oid) m
                        join pg_roles held on held.oid = m.roleid), '') as line
    from pg_roles r where r.rolname like 'fd\\_%'`)

const SEQUENCES = paragraphs(`
  select c.relname as object,
         format(E'create sequence %s as %s start %s increment %s;\\nalter sequence %s owner to %s;',
                c.oid::regclass, format_type(s.seqtypid, null), s.seqstart, s.seqincrement,
                c.oid::regclass, o.rolname)
         || ${grants('c.relacl', 's', 'c.relowner', "'sequence ' || c.oid::regclass")} as line
    from pg_sequence s
    join pg_class c on c.oid = s.seqrelid
    join pg_roles o on o.oid = c.relowner
   where ${outsideExtension('pg_class', 'c')}`)

/** The platform's tables and views. Partitions are left out: which of them exist depends on the month. */
const RELATIONS = `
  pg_class c join pg_namespace n on n.oid = c.relnamespace
   where c.relkind in ('r', 'p', 'v', 'm') and c.relpersistence <> 't' and not c.relispartition
     and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname not like 'pg\\_toast%'
     and ${outsideExtension('pg_class', 'c')}`

const COLUMNS = `
  select c.oid::regclass::text as object,
         to_char(a.attnum, 'FM0000') || concat_ws(' ', '', ' ' || quote_ident(a.attname),
           format_type(a.atttypid, a.atttypmod),
           case when a.attcollation <> t.typcollation
                then 'collate ' || a.attcollation::regcollation end,
           case when a.attnotnull then 'not null' end,
           case when a.attidentity = 'a' then 'generated always as identity'
                when a.attidentity = 'd' then 'generated by default as identity' end,
           case when a.attgenerated = 's'
                then format('generated always as (%s) stored', pg_get_expr(d.adbin, d.adrelid))
                when d.adbin is not null then 'default ' || pg_get_expr(d.adbin, d.adrelid)
            end,
           'set (' || array_to_string(a.attoptions, ', ') || ')') as line
    from pg_attribute a
    join pg_type t on t.oid = a.atttypid
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    join (select c.oid from ${RELATIONS}) as c on c.oid = a.attrelid
   where a.attnum > 0 and not a.attisdropped`

/** PostgreSQL 18 also stores `not null` as a constraint; the column shows it already. */
const CONSTRAINTS = `
  select k.conrelid::regclass::text as object,
         format('  constraint %I %s', k.conname, pg_get_constraintdef(k.oid)) as line
    from pg_constraint k
    join (select c.oid from ${RELATIONS}) as c on c.oid = k.conrelid
   where k.contype in ('p', 'u', 'f', 'c', 'x')`

/** The objects that belong to a table. A leading digit keeps each kind together. */
const ATTACHMENTS = `
  select x.indrelid::regclass::text as object,
         '2' || replace(replace(pg_get_indexdef(x.indexrelid), ' ON ONLY ', ' ON '), ' ON public.', ' ON ') || ';' as line
    from pg_index x
   where not exists (select from pg_constraint k
                      where k.conindid = x.indexrelid and k.contype in ('p', 'u', 'x'))
   union all
  select p.polrelid::regclass::text,
         '3' || concat_ws(' ', format('create %spolicy %I on %s for %s to %s',
           case when p.polpermissive then '' else 'restrictive ' end, p.polname,
           p.polrelid::regclass,
           case p.polcmd when '*' then 'all' when 'r' then 'select' when 'a' then 'insert'
                         when 'w' then 'update' else 'delete' end,
           (select string_agg(coalesce(r.rolname, 'public'), ', ' order by r.rolname collate "C")
              from unnest(p.polroles) as role left join pg_roles r on r.oid = role)),
           'using ' || pg_get_expr(p.polqual, p.polrelid),
           'with check ' || pg_get_expr(p.polwithcheck, p.polrelid)) || ';'
    from pg_policy p
   union all
  select t.tgrelid::regclass::text,
         '4' || replace(pg_get_triggerdef(t.oid), ' ON public.', ' ON ') || ';'
    from pg_trigger t where not t.tgisinternal
   union all
  select a.attrelid::regclass::text,
         format('6grant %s (%I) on %s to %s;', lower(g.privilege_type), a.attname,
                a.attrelid::regclass, coalesce(r.rolname, 'public'))
    from pg_attribute a
   cross join lateral aclexplode(a.attacl) as g
    left join pg_roles r on r.oid = g.grantee
   where not a.attisdropped`

const TABLES = `
  select c.oid::regclass::text as object, c.relkind, c.relpersistence, o.rolname as owner,
         c.relrowsecurity as enabled, c.relforcerowsecurity as forced,
         case when c.relkind in ('v', 'm') then pg_get_viewdef(c.oid) end as definition,
         array_to_string(c.reloptions, ', ') as options, pg_get_partkeydef(c.oid) as divided,
         ${grants('c.relacl', 'r', 'c.relowner', 'c.oid::regclass')} as grants
    from (select c.* from ${RELATIONS}) as c
    join pg_roles o on o.oid = c.relowner`

interface Table {
  object: string
  relkind: string
  relpersistence: string
  owner: string
  enabled: boolean
  forced: boolean
  definition: string | null
  options: string | null
  /** The columns or ranges that divide the rows into partitions. */
  divided: string | null
  grants: string
}

async function listTables(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<Table>(TABLES)
  const columns = group(await read(client, COLUMNS), 4)
  const constraints = group(await read(client, CONSTRAINTS), 0)
  const attachments = group(await read(client, ATTACHMENTS), 0)
  return rows
    .sort((a, b) => byCodePoint(a.object, b.object))
    .map((table) => {
      const of = (lines: Map<string, string[]>) => lines.get(table.object) ?? []
      const lines = [...of(columns), ...of(constraints)]
      return writeTable(table, lines, of(attachments))
    })
}

/** Groups lines by object, without the digits that only served to sort them. */
function group(lines: Line[], digits: number): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const { object, line } of lines) {
    groups.set(object, [...(groups.get(object) ?? []), line.slice(digits)])
  }
  return groups
}

function writeTable(table: Table, lines: string[], attachments: string[]): string {
  const name = table.object
  const options = table.options ? ` with (${table.options})` : ''
  if (table.definition !== null) {
    const kind = table.relkind === 'm' ? 'materialized view' : 'view'
    return `create ${kind} ${name}${options} as\n${table.definition}\nalter ${kind} ${name} owner to ${table.owner};${table.grants}`
  }
  const kind = table.relpersistence === 'u' ? 'unlogged table' : 'table'
  const divided = table.divided === null ? '' : ` partition by ${table.divided}`
  const security = [
    ...(table.enabled ? [`alter table ${name} enable row level security;`] : []),
    ...(table.forced ? [`alter table ${name} force row level security;`] : []),
  ]
  return [
    `create ${kind} ${name} (\n${lines.join(',\n')}\n)${divided}${options};`,
    `alter table ${name} owner to ${table.owner};`,
    ...security,
    ...attachments.filter((each) => each < '5').map((each) => each.slice(1)),
    ...table.grants.split('\n').slice(1),
    ...attachments.filter((each) => each >= '5').map((each) => each.slice(1)),
  ].join('\n')
}

const FUNCTIONS = paragraphs(`
  select p.oid::regprocedure::text as object,
         concat_ws(E'\\n',
           format('create %s %s(%s)', case p.prokind when 'p' then 'procedure' else 'function' end,
                  p.proname, pg_get_function_arguments(p.oid)),
           'returns ' || pg_get_function_result(p.oid),
           concat_ws(' ', 'language', l.lanname,
             case p.provolatile when 'i' then 'immutable' when 's' then 'stable'
                                else 'volatile' end,
             case when p.proisstrict then 'strict' end,
             case when p.proleakproof then 'leakproof' end,
             case when p.prosecdef then 'security definer' end,
             (select string_agg('set ' || setting, ' ' order by setting collate "C")
                from unnest(p.proconfig) as setting),
             'as'),
           '$$' || coalesce(pg_get_function_sqlbody(p.oid), p.prosrc) || '$$;',
           format('alter routine %s owner to %s;', p.oid::regprocedure, o.rolname))
         || ${grants('p.proacl', 'f', 'p.proowner', "'routine ' || p.oid::regprocedure")} as line
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
    join pg_language l on l.oid = p.prolang
    join pg_roles o on o.oid = p.proowner
   where n.nspname not in ('pg_catalog', 'information_schema') and p.prokind <> 'a'
     and ${outsideExtension('pg_proc', 'p')}`)
