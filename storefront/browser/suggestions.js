import { debounce, parsePage } from './storefront.js'

// Suggests products while a shopper types into the search box of the header: a combobox with a list. Until an answer
// is there, and if there is none, it is a plain search field.

const LETTERS_MIN = 2

/** Shorter than a pause between words, and longer than one between letters. */
const TYPING_MS = 180

function createSuggestions(field) {
  const list = document.createElement('div')
  list.id = 'suggestions'
  list.className = 'suggestions'
  list.hidden = true
  list.setAttribute('role', 'listbox')
  list.setAttribute('aria-label', field.dataset.suggestions)
  const status = document.createElement('span')
  status.className = 'hidden'
  status.setAttribute('role', 'status')
  document.querySelector('#find').append(list, status)
  for (const [name, value] of Object.entries({
    role: 'combobox',
    'aria-autocomplete': 'list',
    'aria-controls': list.id,
    'aria-expanded': 'false',
  })) {
    field.setAttribute(name, value)
  }
  return { list, status }
}

function suggest(field) {
  const { list, status } = createSuggestions(field)
  let request = new AbortController()
  let options = []
  let active = -1

  function choose(at) {
    options[active]?.setAttribute('aria-selected', 'false')
    active = at
    options[active]?.setAttribute('aria-selected', 'true')
    options[active]?.scrollIntoView({ block: 'nearest' })
    if (active < 0) field.removeAttribute('aria-activedescendant')
    else field.setAttribute('aria-activedescendant', options[active].id)
  }

  function show(found) {
    const { children, dataset } = found ?? { children: [], dataset: {} }
    active = -1
    list.replaceChildren(...[...children].map((each) => document.importNode(each, true)))
    options = [...list.children]
    for (const [at, each] of options.entries()) each.id = `suggestion-${at}`
    choose(-1)
    list.hidden = options.length === 0
    field.setAttribute('aria-expanded', String(!list.hidden))
    status.textContent = dataset.status ?? ''
  }

  const load = debounce(async () => {
    const q = field.value.trim()
    if (q.length < LETTERS_MIN) return show(null)
    request = new AbortController()
    const { signal } = request
    try {
      const response = await fetch(`/search/suggest?${new URLSearchParams({ q })}`, { signal })
      const page = response.ok ? await parsePage(response) : null
      if (!signal.aborted) show(page?.body.firstElementChild)
    } catch {
      // The shopper has typed on, or there is no connection.
    }
  }, TYPING_MS)

  const close = () => {
    request.abort()
    show(null)
  }

  field.addEventListener('input', () => {
    request.abort()
    load()
  })
  field.addEventListener('keydown', (event) => {
    if (event.isComposing || list.hidden) return
    const steps = { ArrowDown: 1, ArrowUp: -1 }
    if (event.key in steps) {
      event.preventDefault()
      // The field itself is between the last and the first.
      const places = options.length + 1
      choose(((active + 1 + steps[event.key] + places) % places) - 1)
    } else if (event.key === 'Enter' && active >= 0) {
      event.preventDefault()
      options[active].click()
    } else if (event.key === 'Escape') {
      event.preventDefault()
      close()
    }
  })
  field.addEventListener('blur', close)
  // The field keeps the focus, so that a click on an option comes before the list is closed.
  list.addEventListener('mousedown', (event) => event.preventDefault())
}

const searchField = document.querySelector('#search-box')
if (searchField) suggest(searchField)
document.querySelector('#find')?.addEventListener('toggle', (event) => {
  if (event.newState === 'open') searchField.focus()
})
