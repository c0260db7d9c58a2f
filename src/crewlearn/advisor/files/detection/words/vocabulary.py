"""Words in headers and cells, in English, German, Dutch, French and some Spanish, by what they say of a column."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache

from crewlearn.advisor.files.sources.source import JUDGED_COLUMNS

ROLES: Mapping[str, str] = {
    "worker": """
        employee id|emp id|empl id|employee no|employee number|employee nr|employee code|emp no|emp nr|emp number
        badge|badge no|badge id|badge number|worker id|worker no|worker number|associate id|associate no|operator id
        operator no|operator number|user id|userid|user|username|login|login id|agent id|agent no|agent login
        personnel number|personnel no|pers no|personnel id|staff id|staff no|clock no|clock number|payroll no|payroll id
        payroll number|person id|candidate id|picker id|id|id no|resource id|wkr|employee|worker|associate|operator
        agent|scanner user|oper id|emp|temp id|temp no
        personalnummer|personal nr|pers nr|persnr|personalnr|mitarbeiternummer|mitarbeiter nr|mitarbeiternr|ma nr
        ma nummer|stammnummer|ausweis nr|ausweisnummer|benutzer|bediener|kommissionierer|werker|benutzer id
        medewerkernummer|medewerker nr|medewerkernr|medewerker id|personeelsnummer|personeelsnr|personeels nr
        werknemer nr|werknemernummer|gebruiker|operatornr|badgenummer
        matricule|no matricule|num matricule|id employe|numero employe|no employe|code salarie|code employe|id agent
        code agent|identifiant|id salarie|numero agent|utilisateur|operateur|code operateur|numero badge
        codigo empleado|id empleado|numero empleado|legajo|codigo|operario|usuario""",
    "name": """
        name|employee name|emp name|worker name|full name|associate name|operator name|agent name|picker|picker name
        employee|worker|associate|operator|agent|temp worker|candidate|candidate name|worker full name|person|staff
        user name|display name|resource|crew member|personnel
        mitarbeiter|mitarbeitername|mitarbeiter name|name vorname|leiharbeiter|zeitarbeiter|mitarbeiterin
        naam|medewerker|medewerker naam|naam medewerker|werknemer|uitzendkracht|volledige naam
        nom|nom prenom|nom et prenom|salarie|employe|interimaire|nom complet|collaborateur|nom du salarie
        nombre|empleado|nombre completo|trabajador""",
    "first": "first name|given name|firstname|forename|vorname|voornaam|prenom|first",
    "last": "last name|surname|family name|lastname|nachname|familienname|achternaam|nom de famille|nom|apellido|last",
    "date": """
        date|work date|working date|shift date|day|business date|posting date|report date|production date|prod date
        transaction date|date worked|week day date|service date|work day|labor date|activity date|date of work
        datum|arbeitstag|arbeitsdatum|tag|buchungsdatum|produktionsdatum|leistungsdatum|schichtdatum|schichttag
        werkdatum|dag|datum dienst|productiedatum|boekdatum
        jour|date de travail|date prestation|date de production|journee|date du jour|fecha|dia|fecha trabajo
        ts|timestamp|time stamp|timestamp utc|date time|datetime|scan time|scan date|transaction time|scanned at
        created|created at
        event time|scan datetime|date heure|zeitstempel|buchungszeit|scanzeit|tijdstip|tijdstempel|horodatage
        date et heure|datum uhrzeit|datum tijd|completed at|finished at|ticket date|sewn on|scanned""",
    "time": "time|time of day|scan time|uhrzeit|zeit|tijd|tijdstip|heure|hora|clock time|trans time",
    "start": """
        start|start time|clock in|time in|begin|punch in|in|in time|login time|from|start of shift|shift start
        beginn|kommt|kommen|von|startzeit|schichtbeginn|begintijd|begin|van|aanvang|starttijd|debut|heure debut
        arrivee|heure arrivee|heure de debut|inicio|entrada|heure d arrivee|prise de poste""",
    "end": """
        end|end time|finish|clock out|time out|punch out|out|out time|logout time|to|end of shift|shift end|stop
        ende|geht|gehen|bis|endzeit|schichtende|eindtijd|einde|tot|stoptijd|fin|heure fin|depart|heure depart
        heure de fin|salida|finish time|fin de poste""",
    "break": """
        break|breaks|break min|break minutes|break mins|unpaid break|lunch|meal|pause|pause min|pausen|pauze
        pauze min|pauze minuten|pause minutes|descanso|pause h|break hours|break time""",
    "hours": """
        hours|hrs|hours worked|worked hours|actual hours|direct hours|time worked|labor hours|labour hours|hours paid
        total hours|paid hours|man hours|hrs worked|act hrs|actual hrs|direct hrs|measured hours|minutes worked
        worked minutes|duration|work time|working time|reg hours|regular hours|productive hours|on task hours|minutes
        actual minutes|net hours|time on task|logged in time|staffed time|hours on job|attended minutes|clocked hours
        stunden|std|arbeitszeit|arbeitsstunden|ist stunden|istzeit|iststunden|dauer|anwesenheitszeit|stunden netto
        arbeitsminuten|minuten|zeit h|zeit|zeit min|time|time h|time min|hours h
        tijd|tijd min|geleistete stunden|einsatzzeit|ist zeit|temps connecte|temps de connexion
        uren|gewerkte uren|gew uren|werkuren|netto uren|aantal uren|gewerkte tijd|werktijd|duur
        heures|heures travaillees|temps de travail|heures prestees|nb heures|duree|temps|h travaillees|temps passe
        heures effectuees|horas|horas trabajadas""",
    "attendance": """
        attendance|attendance status|attendance code|absence|absence code|absence reason|presence|status|absent
        anwesenheit|abwesenheit|abwesenheitsgrund|fehlgrund|aanwezigheid|afwezigheid|verzuim|absence motif|statut
        motif absence|asistencia|pay code|day type|remarks|remark|bemerkung|opmerking""",
    "shift": "shift|shift no|shift number|shift code|schicht|ploeg|dienst|equipe|poste|turno|shift name|shift id",
    "category": """
        area|work area|zone|department|dept|task|task name|job|job function|job code|function|activity|process
        operation|operation code|op code|op|cost center|cost centre|cell|section|line|machine|station|workstation
        location|warehouse|facility|client|customer|supervisor|skill|queue|campaign|team|labor type|job name|style
        work type|assignment|transaction type|order type|product|item|sku|site|building
        bereich|abteilung|taetigkeit|tatigkeit|arbeitsplatz|kostenstelle|vorgang|prozess|lager|arbeitsgang|linie
        afdeling|taak|activiteit|proces|werkplek|lijn|bewerking|locatie|kostenplaats|opdrachtgever|klant
        service|secteur|tache|activite|atelier|poste de travail|ligne|processus|operation|entrepot|client|mission
        actividad|departamento|tarea|sheet""",
    "units": """
        units|output|pieces|pcs|qty|quantity|quantity picked|units picked|units processed|units produced|unit qty
        items|items picked|produced|production|good pieces|good qty|actual units|actual qty|picked|picks|processed
        completed|eaches|each|units completed|total units|total qty|qty picked|pieces made|good units|actual|volume
        qty produced|pcs completed|good pcs|pieces completed|work units|qty done|qty completed|bundle qty
        menge|stueck|stuck|stueckzahl|stuckzahl|gutmenge|istmenge|ist menge|anzahl|ist|picks|gutteile|teile
        ist stueck|ist stuck|stk|leistung|produzierte menge|anzahl teile|gute teile
        aantal|stuks|eenheden|productie|gereed|aantal stuks|geproduceerd|verwerkt|aantal eenheden|gepickt
        goedgekeurd|aantallen
        quantite|qte|nombre de pieces|unites|produit|produits|realise|pieces produites|quantite produite|nb pieces
        qte produite|articles|pieces bonnes|nombre|nb unites|quantite realisee|unites preparees
        cantidad|piezas|unidades|produccion""",
    "counts": """
        lines|order lines|lines picked|pick lines|cases|cartons|boxes|parcels|packages|tickets|scans|moves|pallets
        total|day total|totaal|gesamt|summe
        orders|bundles|tasks|shipments|totes|transactions|stops|deliveries|documents|claims|forms|rooms|garments
        zeilen|positionen|kartons|pakete|paletten|auftraege|auftrage|auftragspositionen|belege
        regels|orderregels|dozen|pakketten|orders|colli|pallets|zendingen
        lignes|lignes preparees|colis|cartons|palettes|commandes|lignes de commande|lineas|cajas|pedidos""",
    "calls": """
        calls|calls handled|contacts|contacts handled|chats|handled|answered|calls answered|interactions|cases handled
        anrufe|gespraeche|gesprache|kontakte|gesprekken|oproepen|contacten|appels|appels traites|nb appels|llamadas
        appels pris|inbound calls|handled calls|acd calls""",
    "handle": """
        aht|average handle time|avg handle time|handle time|handling time|avg handling time|average handling time
        aht sec|aht s|avg talk time|average talk time|mean handle time|avg aht|sec per call|seconds per call
        bearbeitungszeit|mittlere bearbeitungszeit|durchschnittliche bearbeitungszeit|gespraechszeit|bearbeitungsdauer
        afhandeltijd|gemiddelde afhandeltijd|gem afhandeltijd|gespreksduur|dmt|duree moyenne de traitement
        duree moyenne|temps moyen de traitement|tmt|tiempo medio|tmo|cycle time|time per unit|avg cycle time""",
    "total_handle": """
        total handle time|handle time total|total talk time|total handling time|handling seconds|handle seconds
        talk seconds|total handle sec|handle time sec total|gesamtbearbeitungszeit|totale afhandeltijd
        duree totale|temps total de traitement""",
    "errors": """
        errors|defects|mistakes|error count|faults|rejects|scrap|reworks|fehler|fehleranzahl|ausschuss|fouten
        aantal fouten|afkeur|erreurs|defauts|rebuts|errores|defectos|mispicks""",
    "percent": """
        % of standard|percent of standard|pct of standard|pct of std|% of std|performance|perf|performance %|perf %
        efficiency|efficiency %|eff|eff %|productivity|productivity %|prod %|% std|% standard|attainment|% to goal
        % to target|% of goal|% of target|performance pct|performance percent|pct|percent|% perf|% performance
        leistungsgrad|leistungsgrad %|leistung %|effizienz|erfuellungsgrad|zielerreichung|produktivitaet
        prestatie|prestatie %|rendement|rendement %|efficientie|productiviteit|% norm|% van norm
        taux|taux de performance|efficacite|taux de rendement|productivite|% objectif|performance en %|trs
        rendimiento|eficiencia|% del estandar""",
    "rate": """
        uph|lph|pph|cph|units per hour|picks per hour|lines per hour|pieces per hour|cases per hour|per hour|rate
        units hr|units h|pcs h|pcs hr|pick rate|stueck h|stuck h|stk h|stuks per uur|per uur|aantal per uur
        stueck pro stunde|stuck pro stunde|pieces heure|pieces par heure|unites par heure|par heure|por hora
        colis heure|lignes heure|stk std|stueck std""",
    "standard": """
        standard units|expected units|standard|expected|std units|target|target units|goal|goal units|quota|standard qty
        expected qty|target qty|plan|planned|plan units|engineered standard|required units|std qty|norm units
        soll|sollmenge|soll menge|vorgabe|vorgabemenge|soll stueck|soll stuck|plan menge|ziel
        norm|norm eenheden|doel|verwacht|normaantal|norm aantal|streefaantal|verwachte aantal
        objectif|attendu|quantite standard|quantite attendue|prevu|qte prevue|standard unites|estandar""",
    "earned": """
        earned hours|standard hours|std hours|std hrs|earned hrs|goal hours|expected hours|sah|allowed hours|goal hrs
        earned minutes|standard minutes|std minutes|allowed minutes|std min|produced minutes|earned min|goal time
        sollstunden|soll stunden|sollzeit|vorgabezeit|vorgabestunden|vorgabeminuten|normuren|norm uren|normtijd
        normminuten|heures standard|temps standard|temps alloue|temps gagne|minutes standard|heures gagnees""",
    "per_piece": """
        sam|smv|smv min|sam min|standard minute value|min per piece|minutes per piece|te|te min|temps unitaire""",
    "other": """
        weight|kg|gewicht|poids|value|price|cost|amount|pay rate|wage|salary|page|week|year|month|index|no|nr|row
        line no|ticket no|ticket|order|order no|bundle|bundle no|bundle id|po|invoice|time zone|bill rate|rate of pay
        lohn|preis|betrag|kosten|prijs|bedrag|tarief|prix|montant|cout|semaine|woche|overtime hours|ot hours
        overtime|ueberstunden|overuren|heures sup|heures supplementaires|indirect hours|idle hours|idle time
        hold time|wrap time|acw|after call work|talk time|hold|queue time|transfers|csat|quality|quality score
        downtime|lost time|sequence|seq|transaction id|trans id|device|device id|scanner|scanner id|doc no
        document|article|article no|lot|batch|roll|color|size|hourly rate|uurtarief|taux horaire|target uph|rate goal
        goal rate|std rate|soll h|norm per uur|objectif heure|expected rate|target rate|kw|kalenderwoche|rank""",
}
"""Phrases by role. Words of several roles are decided by what the cells hold."""

MEASURED = ("units", "counts", "calls", "handle", "total_handle", "errors", "percent", "rate")
"""Roles of columns that may hold the output itself."""

_TOTALS = """
    total|totals|subtotal|sub total|grand total|sum|sums|overall|average|averages|avg|mean|total general|all employees
    summe|summen|gesamt|gesamtsumme|zwischensumme|endsumme|insgesamt|durchschnitt|schnitt|mittelwert|gesamtergebnis
    totaal|totalen|subtotaal|eindtotaal|som|gemiddelde|generaal totaal|tussentotaal
    total general|sous total|totaux|somme|moyenne|ensemble|cumul|promedio|suma|total equipe"""
_TOTAL_WORDS = frozenset(" ".join(phrase.split()) for row in _TOTALS.split("\n") for phrase in row.strip().split("|"))
_TOTAL_SIGNS = re.compile(r"\s*(?:\*+\s*$|[Σ∑])")
"""Asterisks, as reports mark the levels of their totals, or the sign of a sum."""
_SHIFTS = (
    "early|morning|day|first|1st|frueh|fruh|fruhschicht|tag|tagschicht|ochtend|vroeg|dag|dagdienst|matin|jour|am|a|manana",
    "late|evening|afternoon|second|2nd|swing|spaet|spat|spatschicht|laat|middag|avond|soir|apres midi|pm|b|tarde",
    "night|third|3rd|graveyard|nacht|nachtschicht|nachtdienst|nuit|c|noche",
)
SHIFT_WORDS: Mapping[str, int] = {
    word: number for number, words in enumerate(_SHIFTS, start=1) for word in words.split("|")
}

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ODD = re.compile(r"[^a-z0-9%#]+")
_NUMBER_SIGN = re.compile(r"\bn[°º]|#", re.IGNORECASE)


@lru_cache(1 << 14)
def words_of(text: str) -> str:
    """Reduce a header to plain lower-case words.

    >>> words_of("EmployeeID"), words_of("Stück/h"), words_of("Prénom"), words_of("Perf. (%)"), words_of("N° agent")
    ('employee id', 'stuck h', 'prenom', 'perf %', 'no agent')
    """
    text = _NUMBER_SIGN.sub(" no ", text[:200].replace("ß", "ss"))
    if text.isascii():
        return " ".join(_ODD.sub(" ", _CAMEL.sub(" ", text).lower()).replace("%", " % ").split())
    plain = unicodedata.normalize("NFKD", _CAMEL.sub(" ", text)).casefold()
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return " ".join(_ODD.sub(" ", plain).replace("%", " % ").split())


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(phrase.strip() for row in text.split("\n") for phrase in row.split("|") if phrase.strip())
    )


PHRASES: Mapping[str, tuple[str, ...]] = {role: _phrases(text) for role, text in ROLES.items()}
_EXACT: dict[str, list[str]] = {}
for _role, _listed in PHRASES.items():
    for _phrase in _listed:
        _EXACT.setdefault(words_of(_phrase), []).append(_role)
_COMPOUND = {
    role: tuple(key for phrase in phrases if len(key := phrase.replace(" ", "")) >= 5)
    for role, phrases in PHRASES.items()
}


@lru_cache(1 << 14)
def roles_of(header: str) -> Mapping[str, float]:
    """Return how well a header fits each role: 1 if it is one of its phrases, less if it only contains one.

    >>> sorted(roles_of("Employee ID").items())[-1], roles_of("Units Picked (ea)")["units"] > 0.5, dict(roles_of("Xyz"))
    (('worker', 1.0), True, {})
    """
    words = words_of(header)
    if not words:
        return {}
    scores = dict.fromkeys(_EXACT.get(words, ()), 1.0)
    tokens, joined = words.split(), words.replace(" ", "")
    for length in range(min(4, len(tokens)), 0, -1):
        for at in range(len(tokens) - length + 1):
            part = " ".join(tokens[at : at + length])
            for role in _EXACT.get(part, ()):
                # the last words of a header tell most, as in "Shift date"
                ends = 0.08 if at + length == len(tokens) else 0.0
                scores[role] = max(scores.get(role, 0.0), 0.45 + 0.35 * length / len(tokens) + ends)
    for role, keys in _COMPOUND.items():
        if role not in scores and any(key in joined for key in keys):
            scores[role] = 0.5
    return scores


def best_fit(header: str) -> float:
    """Return how much a cell looks like a header that is known."""
    return max(roles_of(header).values(), default=0.0)


@lru_cache(1 << 14)
def is_total(cell: str) -> bool:
    """Return whether a cell names a total: it is such a word, or begins or ends with one.

    >>> [is_total(text) for text in ("Grand Total:", "Total for 1001", "1001 Total", "Zwischensumme", "Totals Ltd")]
    [True, True, True, True, False]
    >>> is_total("**"), is_total("Σ Tag")
    (True, True)
    """
    if _TOTAL_SIGNS.match(cell):
        return True
    words = words_of(cell)
    if not words or (words[0].isdigit() and not words.endswith(("total", "totaal", "summe"))):
        return False
    if words in _TOTAL_WORDS:
        return True
    first, *rest = words.split()
    if first in ("total", "subtotal", "totaal", "subtotaal", "summe", "gesamt", "zwischensumme") and rest:
        return rest[0] in (
            "for",
            "of",
            "per",
            "fur",
            "voor",
            "pour",
            "de",
            "du",
            "general",
            "employee",
            "day",
            "date",
        ) or (len(rest) <= 3 and (cell.strip().endswith(":") or any(word[0].isdigit() for word in rest)))
    return len(rest) <= 4 and words.endswith((" total", " totals", " subtotal", " totaal", " summe", " sum"))


def has_total(cells: Sequence[str]) -> bool:
    """Return whether a line names a total, in one of the cells by which lines are judged."""
    return any(map(is_total, cells[:JUDGED_COLUMNS]))


def begins_as_total(cell: str) -> bool:
    """Return whether a cell's first word is one for a total, as in `Summe Ames, Ann`; a person may have such a name.

    >>> begins_as_total("Summe Ames, Ann"), begins_as_total("Ann Summe")
    (True, False)
    """
    first, _, rest = words_of(cell).partition(" ")
    return bool(rest) and first in _TOTAL_WORDS
