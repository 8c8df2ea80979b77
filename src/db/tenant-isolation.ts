import type pg from 'pg'

/** A fault of the database that would let one store's rows reach another. */
export interface Breach {
  rule: string
  /** The table, index, role or function that has the fault. */
  object: string
  detail: string
}

/** Permitted exceptions, each by name and with its reason. */
export interface Exceptions {
  /** Tables without a `tenant_ref`. */
  globalTables: Readonly<Record<string, string>>
  /** Indexes, constraints and foreign keys that need not start with `tenant_ref`. */
  keys: Readonly<Record<string, string>>
  /** Tables whose `tenant_ref` has no foreign key to stores. */
  withoutStore: Readonly<Record<string, string>>
  /** `security definer` functions of the owner of the tables. */
  ownerFunctions: Readonly<Record<string, string>>
}

type Rule = (client: pg.Client, exceptions: Exceptions) => Promise<Breach[]>

/** Lists every fault in the isolation of stores in this database; an empty list means that there is none. */
export async function listBreaches(client: pg.Client, exceptions: Exceptions): Promise<Breach[]> {
  const rules = [
    listUnprotectedTables,
    listUnsafePolicies,
    listUnsafeKeys,
    listUnlistedTables,
    listTablesWithoutStore,
  ]
  const found: Breach[] = []
  for (const rule of [...rules, listUnsafeViews, listUnsafeRoles, listUnsafeFunctions]) {
    found.push(...(await rule(client, exceptions)))
  }
  return found
}

/** Our tables: all of `public`, and all that our roles own, without those of extensions. */
const OUR_TABLES = `
  our_tables as (
    select c.oid, c.relname, c.relkind, c.relowner, c.reloptions, c.relispartition,
           c.relrowsecurity, c.relforcerowsecurity,
           case n.nspname when 'public' then '' else n.nspname || '.' end || c.relname as name,
           (select a.attnum from pg_attribute a
             where a.attrelid = c.oid and a.attname = 'tenant_ref' and not a.attisdropped) as tenant
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      join pg_roles o on o.oid = c.relowner
     where c.relpersistence <> 't'
       and (n.nspname = 'public' or o.rolname like 'fd\\_%')
       and not exists (select from pg_depend d
                        where d.objid = c.oid and d.classid = 'pg_class'::regclass
                          and d.deptype = 'e')
  ),
  tables as (select * from our_tables where relkind in ('r', 'p')),
  tenant_tables as (select * from tables where tenant is not null and name <> all ($1))`

const queryBreaches = async (client: pg.Client, { globalTables }: Exceptions, text: string) => {
  const { rows } = await client.query<Breach>(`with ${OUR_TABLES} ${text}`, [
    Object.keys(globalTables),
  ])
  return rows
}

/** Lists tables without row level security, or with one that does not bind the table's owner. */
export const listUnprotectedTables: Rule = (client, exceptions) =>
  queryBreaches(
    client,
    exceptions,
    `select 'row level security' as rule, name as object,
            case when relrowsecurity then 'is not forced' else 'is not enabled' end as detail
       from tenant_tables
      where not (relrowsecurity and relforcerowsecurity)
      order by name`,
  )

const SETTING = `COALESCE(current_setting('app.tenant'::text,true),''::text)`

/**
 * The condition of `fd_due`, as PostgreSQL writes it, without spaces and line ends: either no store is set, or the
 * row's store is the set one.
 */
const ONE_STORE =
  `(CASEWHEN((${SETTING}=''::text)OR(${SETTING}=tenant_ref))` +
  'THEN1ELSENULL::integerENDISNOTNULL)'

/**
 * Lists policies that give more than a store's own rows. API and worker may reach a row only by the
 * policy of its store. The worker may also read over all stores, to find what is due, but only while
 * no store is set.
 */
export const listUnsafePolicies: Rule = (client, exceptions) =>
  queryBreaches(
    client,
    exceptions,
    `, policies as (
       select p.polrelid, p.polname, p.polcmd, p.polpermissive,
              coalesce(r.rolname, 'public') as role,
              coalesce(pg_get_expr(p.polqual, p.polrelid), '') as "using",
              coalesce(pg_get_expr(p.polwithcheck, p.polrelid), '') as "check"
         from pg_policy p
        cross join unnest(p.polroles) as role_oid
         left join pg_roles r on r.oid = role_oid
     ),
     judged as (
       select *, polcmd = '*' and polpermissive
                 and "using" ~ '^\\(tenant_ref = (public\\.)?fd_tenant\\(\\)\\)$'
                 and "check" = "using" as isolates,
              polcmd = 'r' and not polpermissive
                 and regexp_replace("using", '\\s+', '', 'g') = $one_store$${ONE_STORE}$one_store$
                 as fences_reads
         from policies
     )
     select 'tenant policy' as rule, f.name as object,
            wanted || ' has no policy that limits reads and writes to its tenant' as detail
       from tenant_tables f
      cross join unnest(array['fd_app', 'fd_worker']) as wanted
      where not exists (select from judged j
                         where j.polrelid = f.oid and j.role = wanted and j.isolates)
      union all
     select 'tenant policy', f.name,
            format('policy %s lets %s past its tenant', j.polname, j.role)
       from tenant_tables f
       join judged j on j.polrelid = f.oid
      where j.role in ('fd_app', 'fd_worker', 'public') and j.polpermissive and not j.isolates
        and not (j.role = 'fd_worker' and j.polcmd = 'r'
                 and exists (select from judged r
                              where r.polrelid = f.oid and r.role = 'fd_worker' and r.fences_reads))
      order by 2, 3`,
  )

/**
 * Lists keys that do not start with `tenant_ref`. Such a key reaches across stores: its violation tells one store
 * what another has, or it links their rows. The keys that a partition inherits are judged at its table, under the
 * names they have there.
 */
export const listUnsafeKeys: Rule = async (client, exceptions) => {
  const found = await queryBreaches(
    client,
    exceptions,
    `, stray as (
       select f.name, i.relname as key,
              case when x.indisprimary then 'primary key' when x.indisunique then 'unique index'
                   else 'index' end as kind
         from tenant_tables f
         join pg_index x on x.indrelid = f.oid
         join pg_class i on i.oid = x.indexrelid
        where x.indkey[0] <> f.tenant
          and not exists (select from pg_inherits h where h.inhrelid = i.oid)
        union all
       select f.name, k.conname, 'foreign key'
         from tenant_tables f
         join pg_constraint k on k.conrelid = f.oid and k.contype = 'f'
         left join tenant_tables target on target.oid = k.confrelid
        where k.conparentid = 0
          and (k.conkey[1] <> f.tenant
               or (target.oid is not null and k.confkey[1] <> target.tenant))
        union all
       select f.name, f.name, 'table without a primary key, which'
         from tenant_tables f
        where not exists (select from pg_index x where x.indrelid = f.oid and x.indisprimary)
     )
     select 'key' as rule, name || '.' || key as object,
            kind || ' does not start with tenant_ref' as detail
       from stray order by 2`,
  )
  return found.filter(({ object }) => !(keyName(object) in exceptions.keys))
}

const keyName = (object: string) => object.slice(object.lastIndexOf('.') + 1)

/**
 * Lists tables without a `tenant_ref` that are not listed as global, and listed ones that do not
 * exist.
 */
export const listUnlistedTables: Rule = (client, exceptions) =>
  queryBreaches(
    client,
    exceptions,
    `select 'global table' as rule, name as object,
            'has no tenant_ref and is not listed as global' as detail
       from tables
      where tenant is null and name <> all ($1)
      union all
     select 'global table', listed, 'is listed as global and does not exist'
       from unnest($1::text[]) as listed
      where not exists (select from tables where name = listed)
      order by 2`,
  )

/**
 * Lists tables whose `tenant_ref` has no foreign key to stores: rows could outlive their store, or
 * name one that never existed. A partition has the foreign keys of its table.
 */
export const listTablesWithoutStore: Rule = async (client, exceptions) => {
  const found = await queryBreaches(
    client,
    exceptions,
    `select 'store' as rule, f.name as object,
            'tenant_ref has no foreign key to stores' as detail
       from tenant_tables f
      where f.name <> 'stores' and not f.relispartition
        and not exists (select from pg_constraint k
                          join tenant_tables s on s.oid = k.confrelid and s.name = 'stores'
                         where k.conrelid = f.oid and k.contype = 'f' and k.convalidated
                           and k.conkey = array[f.tenant] and k.confkey = array[s.tenant])
      order by 2`,
  )
  return found.filter(({ object }) => !(object in exceptions.withoutStore))
}

/**
 * Lists views that read past row level security: a view has its owner's rights, unless it says
 * otherwise.
 */
export const listUnsafeViews: Rule = (client, exceptions) =>
  queryBreaches(
    client,
    exceptions,
    `select 'view' as rule, name as object, 'reads past row level security' as detail
       from our_tables
      where relkind in ('v', 'm') and name <> all ($1)
        and not (relkind = 'v'
                 and coalesce(reloptions, '{}') && '{security_invoker=true,security_invoker=on}')
      order by 2`,
  )

/** Lists roles of our_tables that bypass row level security, and login roles that own an object. */
export const listUnsafeRoles = async (client: pg.Client): Promise<Breach[]> => {
  const { rows } = await client.query<Breach>(`
    select 'role' as rule, r.rolname as object, power as detail
      from pg_roles r
     cross join lateral (values
       (r.rolsuper, 'is a superuser'), (r.rolbypassrls, 'bypasses row level security'),
       (r.rolcreaterole, 'may create roles'), (r.rolreplication, 'may replicate everything')
     ) as powers (held, power)
     where r.rolname like 'fd\\_%' and held
     union all
    select 'role', r.rolname,
           'owns ' || pg_describe_object(d.classid, d.objid, d.objsubid)
      from pg_shdepend d
      join pg_roles r on r.oid = d.refobjid and d.refclassid = 'pg_authid'::regclass
     where d.deptype = 'o'
       and r.rolname in ('fd_app', 'fd_worker', 'fd_operator')
       and d.dbid in (0, (select oid from pg_database where datname = current_database()))
     order by 2, 3`)
  return rows
}

/**
 * Lists `security definer` functions that are unsafe: each must belong to a role with few rights,
 * have a fixed search path, and not be callable by everyone.
 */
export const listUnsafeFunctions: Rule = async (client, { ownerFunctions }) => {
  const { rows } = await client.query<Breach>(
    `
    select 'definer function' as rule, p.oid::regprocedure::text as object, fault as detail
      from pg_proc p
      join pg_namespace n on n.oid = p.pronamespace
      join pg_roles o on o.oid = p.proowner
     cross join lateral (values
       (o.rolname not in ('fd_gate', 'fd_search')
          and not (o.rolname = 'fd_owner' and p.proname = any ($1)),
        'is owned by ' || o.rolname),
       (not exists (select from unnest(p.proconfig) as s where s like 'search\\_path=%'),
        'has no fixed search_path'),
       (exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as g
                 where g.grantee = 0 and g.privilege_type = 'EXECUTE'),
        'may be called by everyone')
     ) as faults (found, fault)
     where p.prosecdef and found
       and (n.nspname = 'public' or o.rolname like 'fd\\_%')
       and not exists (select from pg_depend d
                        where d.objid = p.oid and d.classid = 'pg_proc'::regclass
                          and d.deptype = 'e')
     order by 2, 3`,
    [Object.keys(ownerFunctions)],
  )
  return rows
}
