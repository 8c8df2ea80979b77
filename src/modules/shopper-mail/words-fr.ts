import type { Words } from './words-schema.ts'

export const fr: Words = {
  kinds: {
    order_placed: {
      subject: ({ order, store }) => `Commande ${order} confirmée – ${store}`,
      heading: 'Merci pour votre commande',
      intro: () =>
        'Nous avons bien reçu votre commande et votre paiement, et nous la préparons. Nous vous écrirons dès son expédition.',
    },
    order_held: {
      subject: ({ order, store }) => `Nous vérifions la commande ${order} – ${store}`,
      heading: 'Nous vérifions votre paiement',
      intro: () =>
        'Nous avons bien reçu votre commande et vérifions son paiement avant de continuer. Vous n’avez rien à faire : nous vous écrirons dès que ce sera fait.',
    },
    order_shipped: {
      subject: ({ order, store }) => `La commande ${order} est en route – ${store}`,
      heading: 'Votre colis est en route',
      intro: ({ order }) => `Un colis de votre commande ${order} a été remis au transporteur.`,
    },
    order_delivered: {
      subject: ({ order, store }) => `La commande ${order} a été livrée – ${store}`,
      heading: 'Votre colis est arrivé',
      intro: ({ order }) =>
        `Un colis de votre commande ${order} a été livré. Nous espérons qu’il vous plaira.`,
    },
    order_refunded: {
      subject: ({ order, store }) => `Remboursement de la commande ${order} – ${store}`,
      heading: 'Vous avez été remboursé',
      intro: ({ order, amount }) => `Nous avons remboursé ${amount} de votre commande ${order}.`,
    },
    order_cancelled: {
      subject: ({ order, store }) => `La commande ${order} a été annulée – ${store}`,
      heading: 'Votre commande a été annulée',
      intro: ({ order, amount }) =>
        amount === ''
          ? `Votre commande ${order} a été annulée. Rien n’a été débité.`
          : `Votre commande ${order} a été annulée et ${amount} ont été remboursés.`,
    },
    order_edited: {
      subject: ({ order, store }) => `La commande ${order} a été modifiée – ${store}`,
      heading: 'Votre commande a été modifiée',
      intro: ({ order }) => `Voici votre commande ${order} telle qu’elle est maintenant.`,
    },
    gift_card: {
      subject: ({ amount, store }) => `Une carte cadeau de ${amount} – ${store}`,
      heading: 'Une carte cadeau pour vous',
      intro: ({ store, amount }) => `Voici votre carte cadeau de ${amount} pour ${store}.`,
    },
    return_approved: {
      subject: ({ order, store }) => `Votre retour de la commande ${order} – ${store}`,
      heading: 'Votre retour est accepté',
      intro: ({ order }) => `Vous pouvez renvoyer ces articles de votre commande ${order}.`,
    },
    return_received: {
      subject: ({ order, store }) => `Retour de la commande ${order} reçu – ${store}`,
      heading: 'Votre retour est arrivé',
      intro: ({ order, amount }) =>
        amount === ''
          ? `Nous avons reçu ce que vous avez renvoyé de votre commande ${order}.`
          : `Nous avons reçu ce que vous avez renvoyé de votre commande ${order} et remboursons ${amount}.`,
    },
    subscription_upcoming: {
      subject: ({ item, store }) => `Votre prochaine livraison de ${item} – ${store}`,
      heading: 'Votre abonnement est bientôt renouvelé',
      intro: ({ item, date, amount }) =>
        `Votre abonnement à ${item} est renouvelé le ${date}. Nous débiterons alors ${amount} de votre carte. Jusque-là, vous pouvez le modifier, le sauter ou y mettre fin.`,
    },
    subscription_price_changed: {
      subject: ({ store }) => `Le prix de votre abonnement change – ${store}`,
      heading: 'Le prix de votre abonnement change',
      intro: ({ item, date, amount }) =>
        `Votre abonnement à ${item} est renouvelé le ${date}. Son prix a changé : nous débiterons alors ${amount} de votre carte. Si vous n’êtes pas d’accord, vous pouvez y mettre fin avant.`,
    },
    subscription_payment_failed: {
      subject: ({ item, store }) => `Votre carte n’a pas pu être débitée pour ${item} – ${store}`,
      heading: 'Votre paiement a échoué',
      intro: ({ item, date }) =>
        date === ''
          ? `Nous n’avons pas pu débiter votre carte pour votre abonnement à ${item} et n’essaierons plus avec elle. Indiquez une autre carte pour continuer.`
          : `Nous n’avons pas pu débiter votre carte pour votre abonnement à ${item}. Nous essaierons de nouveau le ${date}. D’ici là, vous pouvez indiquer une autre carte.`,
    },
    subscription_last_attempt: {
      subject: ({ item, store }) => `Dernière tentative de débit pour ${item} – ${store}`,
      heading: 'Nous essayons une dernière fois',
      intro: ({ item, date }) =>
        `Nous n’avons de nouveau pas pu débiter votre carte pour votre abonnement à ${item}. Nous essaierons une dernière fois le ${date}. Indiquez une autre carte pour que votre abonnement continue.`,
    },
    subscription_recovered: {
      subject: ({ item, store }) => `Votre paiement pour ${item} est arrivé – ${store}`,
      heading: 'Votre paiement est arrivé',
      intro: ({ item }) => `Merci : votre abonnement à ${item} continue comme avant.`,
    },
    subscription_paused: {
      subject: ({ item, store }) => `Votre abonnement à ${item} est suspendu – ${store}`,
      heading: 'Votre abonnement est suspendu',
      intro: ({ item }) =>
        `Votre abonnement à ${item} est suspendu. Rien ne sera débité avant sa reprise.`,
    },
    subscription_cancelled: {
      subject: ({ item, store }) => `Votre abonnement à ${item} est terminé – ${store}`,
      heading: 'Votre abonnement est terminé',
      intro: ({ item }) =>
        `Votre abonnement à ${item} est terminé. Plus rien ne sera débité à ce titre.`,
    },
    subscription_card_expiring: {
      subject: ({ store }) => `Votre carte expire bientôt – ${store}`,
      heading: 'Votre carte expire bientôt',
      intro: ({ item, date }) =>
        `La carte de votre abonnement à ${item} peut être débitée jusqu’au ${date}. Indiquez-en une autre avant, pour que votre abonnement continue.`,
    },
    payment_request: {
      subject: ({ order, amount, store }) =>
        `Merci de payer ${amount} pour la commande ${order} – ${store}`,
      heading: 'Un paiement est nécessaire',
      intro: ({ order, amount }) =>
        `Vos nouveaux articles de la commande ${order} sont réservés. Votre retour ne les couvre pas entièrement : merci de payer les ${amount} restants. Rien n’est débité avant cela.`,
    },
  },
  giftCardsIntro:
    'Nous avons bien reçu votre commande et votre paiement. La carte cadeau arrive par e-mail : tout de suite, ou le jour que vous avez choisi.',
  correctionIntro: ({ order, amount }) =>
    `Votre commande ${order} part maintenant à une autre adresse, où elle coûte ${amount} de plus. Merci de payer ce montant : la commande partira ensuite. Rien n’est débité avant cela.`,
  alreadyPaid: 'Déjà payé',
  orderNumber: (order) => `Commande ${order}`,
  viewOrder: 'Voir votre commande',
  visitStore: 'Aller à la boutique',
  payNow: 'Payer maintenant',
  trackParcel: 'Suivre le colis',
  printLabel: 'Imprimer l’étiquette',
  orderSummary: 'Votre commande',
  inThisParcel: 'Dans ce colis',
  returnedItems: 'Articles de ce retour',
  moreToCome: 'Le reste de votre commande arrivera dans un autre colis. Nous vous écrirons alors.',
  subscribed: ({ item, date }) =>
    `Vous êtes abonné à ${item}.${date === '' ? '' : ` Le prochain envoi sera débité le ${date}.`}`,
  subtotal: 'Sous-total',
  discount: 'Remise',
  shipping: 'Livraison',
  free: 'Offerte',
  tax: 'Taxes',
  taxIncluded: (rate) => (rate === null ? 'Dont TVA' : `Dont TVA (${rate})`),
  total: 'Total',
  oldTotal: 'Total précédent',
  charged: 'Débité',
  refunded: 'Remboursé',
  refundedTo: 'Remboursé sur',
  refundDays:
    'Un remboursement sur carte peut mettre quelques jours à apparaître auprès de votre banque.',
  fromReturn: 'Payé par votre retour',
  toPay: 'À payer',
  payUntil: (date) => `Merci de payer avant le ${date}. Ensuite, la commande sera annulée.`,
  shipsTo: 'Adresse de livraison',
  paidWith: 'Payé avec',
  carrier: 'Transporteur',
  trackingNumber: 'Numéro de suivi',
  manageSubscription: 'Ouvrir votre abonnement',
  updateCard: 'Indiquer une autre carte',
  subscription: 'Abonnement',
  amount: 'Montant',
  card: 'Carte',
  instructions: 'Comment le renvoyer',
  giftCardCode: 'Votre code',
  giftCardBalance: 'Solde',
  giftCardUse:
    'Saisissez le code au moment de payer. Toute personne qui l’a peut le dépenser : gardez ce message comme de l’argent liquide.',
  giftCardFor: (name) => `Pour ${name}`,
  giftCardMessage: 'Un message pour vous',
  validUntil: (date) => `Valable jusqu’au ${date}`,
  tenders: { card: 'Carte', gift_card: 'Carte cadeau', store_credit: 'Avoir' },
  endingIn: (name, last4) => `${name} se terminant par ${last4}`,
  linkNote: (days) =>
    `Le lien vers votre commande est valable ${days} jours. Toute personne qui l’a peut voir et modifier la commande : ne le transmettez pas.`,
  subscriptionLinkNote: (days) =>
    `Le lien vers votre abonnement est valable ${days} jours. Toute personne qui l’a peut modifier l’abonnement : ne le transmettez pas.`,
  questions: (email) => `Des questions ? Répondez à ce message ou écrivez à ${email}.`,
  why: (store) => `Vous recevez ce message parce que vous avez commandé chez ${store}.`,
  whyGiftCard: (store) =>
    `Vous recevez ce message parce qu’une carte cadeau de ${store} a été émise pour cette adresse.`,
  whySubscription: (store) =>
    `Vous recevez ce message parce que vous avez un abonnement chez ${store}.`,
}
