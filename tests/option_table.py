"""Every option of every command: what a command is given at least, and after the `|` its options.

Each option is tried beside the rest of its row, and takes the place of its other value there;
`-NAME` is the row without it. {L} is a label set, {A} one of answers. A row may go on in lines that
begin with blanks.
"""

# each of these options makes a difference, or is refused
TABLE = """
init there | --demo
start shop | --name=mine; --as=old.csv=ranx_run
ingest demo | --dry-run
import support answers answers/support.csv --assessor ann | --assessor=bob; --as=esci;
    --column=support=none; --rows=x[]; --only=system=none; --label=full=1
plan answers | --grader=meets; --queries=sourdough; --rubric-version=7; --limit=1
grade answers --grader meets | --grader=supports; --queries=sourdough; --rubric-version=7;
    --limit=1; --dry-run; --max-cost=1; --wait
probe demo --grader lexical_direct --plan | --size=5; --grader=lexical; -plan
probe demo --grader lexical_direct --size 5 | --seed=2; --limit=1
generate demo --grader writer --dry-run | --grader=other; --method=nuggetizer; --label-set={L};
    --level=1; --bank=b; --system=s; --queries=fermi; --limit=1; --max-cost=1
generate answers demo --grader wiki --dry-run | --system=s; --max-cost=1; --bank=b;
    --method=nuggetizer; --label-set={L}; --level=1
distil demo --assessor human --grader explainer --name n --dry-run | --share=0.5; --per-label=2;
    --iterations=2; --queries=sourdough-sour-rise; --distil-prompt=umbrela; --assessor=nobody;
    --grader=meets; --name=a/b; --show=n; --export=n f.yaml; --import=n f.yaml
prompts render {prompt} --item q --passage p | --item=other; --passage=other;
    --passage-file=shop/topics.tsv; --query=x; --slot=narrative=x
prompts render verify_answer --item q --slot gold_answer=a --slot answer=b | --slot=answer=c
prompts render {prompt} --item q | --passage-file=shop/topics.tsv
prompts sample demo --assessor human --per-label 1 --seed 1 | --assessor=nobody; --per-label=2;
    --seed=5; --scale=0-2; --output=new.jsonl
build --name x | --name=y
sql @leaderboard | --format=csv; --output=f.csv; -n=1; --as-sql; --explain
sql "from read_text('sheet.txt')" | --allow-files
docs | --output=nowhere/f.html
compare demo bm25 lsa --measure AP | --measure=RR; --label-set=judge:overlap; --level=1;
    --segment=tail; --alpha=0.9
compare demo bm25 lsa fusion --measure AP | --label-set=judge:overlap; --level=1;
    --segment=tail; --alpha=0.9
compare many A B --measure AP --replicates 9 | --replicates=99; --seed=5
report demo | --output=f.html; --reference=judge:overlap; --compare-with=r1; --compare=bm25 lsa;
    --grid-passages=1; --without-rubric; --preview=preview.json
stats agreement demo --label-set lexical/v0/best | --label-set={L}; --reference=judge:overlap;
    --cut=4; --judgment-cut=1; --each-kappa
stats agreement demo --label-set lexical/v0/best --cut 4 | --judgment-cut=1; --each-kappa
stats alpha demo | --label-set=judge:overlap; --metric=nominal; --per-query; --replicates=50;
    --seed=5; --confidence=0.5
stats battles answers --label-set battles/battles | --label-set={A}; --segment=tail;
    --replicates=50; --seed=5; --confidence=0.5
stats ceiling demo | --label-set=judge:overlap; --kind=graded; --replicates=50; --seed=5;
    --confidence=0.5
stats correlation demo --measure nDCG@10 | --measure=AP; --label-set=judge:overlap;
    --leaderboard=other; --reference={L}; --against=judge:overlap; --top=2; --level=1;
    --reference-level=1; --replicates=50; --seed=5; --confidence=0.5
stats correlation demo --measure AP --reference {L} | --reference-level=1
stats correlation-table demo --measure AP | --measure=RR; --label-set=judge:overlap; --level=1;
    --leaderboard=other; --reference={L}; --by-topic; --within=0.5; --overlapping;
    --replicates=50; --seed=5; --grey-below=0.99; --repeated
stats correlation-table demo --measure AP --overlapping | --replicates=50; --seed=5
stats correlation-table demo --measure AP --reference {L} | --by-topic
stats estimate demo --measure P@10 --label-set judge:overlap --assessor ann | --measure=AP;
    --label-set={L}; --assessor=nobody; --sample=other; --level=1; --assessor-level=1;
    --confidence=0.5
stats estimate demo --measure P@10 --label-set judge:overlap --assessor bob | --these-queries
stats judges demo | --label-set=judge:overlap; --reference=judge:overlap; --measure=AP
stats kappa demo | --label-set=judge:overlap; --reference=judge:overlap;
    --against=judge:overlap; --kind=graded; --replicates=50; --seed=5; --confidence=0.5
stats labels demo | --label-set=judge:overlap; --reference=judge:overlap; --measure=AP
stats leaderboard demo --label-set {L} --measure AP | --label-set=judge:overlap; --measure=RR;
    --level=1; --ranks; --stderr; --interval; --groups; --approximate; --starred;
    --ordered-by=1; --correlation; --board={L} AP 1
stats leaderboard demo --board {L} AP 1 | --board={L} RR 1
stats meta demo --reference {L} --measure AP | --reference=judge:overlap;
    --reference-measure=RR; --label-set=judge:overlap; --measure=RR; --top=3;
    --only-shared-queries; --qrels; --level=1; --reference-level=1
stats overview demo | --measure=RR; --label-set=judge:overlap; --segment=tail
stats overview demo --label-set {L} --measure AP | --level=1
stats ranks demo --measure AP --label-set {L} | --measure=RR; --label-set=judge:overlap;
    --segment=tail; --level=1; --alpha=0.9; --confidence=0.5
stats ranks demo --measure AP --label-set {L} --replicates 49 | --replicates=9; --seed=5
stats rates demo --label-set judge:overlap | --label-set=lexical/v0/best;
    --reference=lexical/v0/best; --replicates=50; --seed=5; --confidence=0.5
stats significance demo --measure AP --label-set judge:overlap | --measure=RR; --label-set={L};
    --reference={L}; --segment=tail; --level=1; --reference-level=1; --alpha=0.9
stats significance demo --measure AP --label-set judge:overlap --reference {L} |
    --reference-level=1
stats significance many --measure AP --label-set assessor:me --replicates 9 |
    --replicates=99; --seed=5
gate demo --system bm25 --baseline lsa --measure AP --label-set {L} | --system=fusion;
    --baseline=fusion; --baseline-release=r1; --measure=RR; --label-set=judge:overlap;
    --segment=tail; --level=1; --tolerance=0.5; --alpha=0.4; --sure=any; --fixed-queries;
    --rule=nightly; --queries=1
gate --rule nightly | --baseline-release=r1; --queries=1
stats ranks demo --measure AP --label-set {L} --picture q.svg | --picture=p.pdf; --width=3;
    --height=3; --font-size=20
stats confusion demo --label-set judge:overlap | --label-set=lexical/v0/best;
    --reference=lexical/v0/best; --by-label
stats scatter demo --label-set judge:overlap --measure AP | --label-set=lexical/v0/best;
    --measure=RR; --reference=lexical/v0/best; --level=2
stats coverage demo --label-set lexical/v0/best | --label-set=lexical_nuggets/v0/best; --level=3
stats calibration demo --grader lexical_direct | --grader=lexical; --reference=judge:overlap;
    --cut=1
stats grades demo --grader lexical | --grader=lexical_nuggets; --rubric-version=7;
    --query=sourdough-sour-rise
export grades demo -o f.jsonl | --grader=lexical; --depth=1; --output=g.jsonl
export grades answers --grader assigns -o f.jsonl | --format=assignments
export grades answers --grader assigns --format assignments -o f.jsonl | --grader=meets;
    --output=g.jsonl; --depth=1
export bank demo --name questions -o f | --name=nuggets; --format=csv; --output=g
export qrels demo --label-set {L} | --label-set=judge:overlap; --fill-holes=judge:overlap;
    --map=1:2; --output=f.qrels; --all=qrels
export qrels demo --label-set {L} --fill-holes judge:overlap | --map=1:2
export track demo --public new | --layout=trec_eval; --anonymous=names.csv; --public=other
export qrels demo --label-set {L} --sample 20 -o f.csv | --label-set=judge:overlap; --sample=3;
    --unit=query; --allocation=equal; --depth=1; --judged-by=human; --seed=5; --output=g.csv
export scores demo --label-set {L} | --label-set=judge:overlap; --measure=AP; --level=1;
    --layout=tot; --measures-yml; --output=f.txt
export scores demo --label-set {L} -o f.txt | --measures-yml
export track demo --card lexical | --also=answers; --measure=AP; --format=latex; --output=f.md;
    --card=lexical_direct
export workbench demo new | --label-set=lexical/v0/best; --measure=AP; --min-rating=3;
    --reference=judge:overlap; --leaderboard=other
export track demo --participants new | --label-set={L}; --measure=AP; --by=team;
    --participants=other
rubric show sourdough-sour-rise | --collection=answers; --version=7
rubric edit --from sheet.txt | --collection=answers; --bank=questions; --reason=why;
    --version=7; --print
rubric edit sourdough-sour-rise --print | --collection=answers; --bank=questions; --reason=why;
    --version=7
rubric preview demo | --from=sheet.txt
rubric diff 0 0 --collection demo | --collection=none; --query=none
review demo --grader lexical --assessor ann | --grader=lexical_nuggets; --queue=first;
    --assessor=bob; --query=sourdough-sour-rise; --item=none; --sample=3; --seed=5; --tau=2;
    --only-answered; --blind; --open; --settle; --again
review demo --queue first --assessor ann | --open; --settle; --again; --tau=2
queue add demo new --grader lexical --assessor ann --overlap 1 --size 9 |
    --grader=lexical_nuggets; --label-set={L}; --from=spurious; --size=3; --overlap=2;
    --assessor=bob; --tau=2; --depth=1; --label-names=a,b; --queries=q; --seed=5
queue add demo new --label-set judge:overlap --assessor ann --overlap 1 --size 9 |
    --from=sample; --depth=1; --label-names=a,b,c,d; --tau=2; --queries=q; --seed=5
queue add demo new --from pool --assessor ann --overlap 1 | --size=3; --depth=1;
    --label-names=a,b,c,d; --tau=2; --queries=sourdough-sour-rise; --seed=5; --grader=lexical
assessor add ann | --role=editor; --url=http://lake
schedule --cron | --systemd; --at=03:15; --into=units
schedule --systemd | --cron; --at=03:15; --into=units
release keep r1 | --undo
release drop r2 | --force
release diff r1 r2 | --collection=answers; --measure=AP; --level=7
log | --limit=1
lake verify | --deep; --against=shop
lake recover --from r1 | --from=r7
"""
# each of these means nothing beside what is there, and is refused by its name
POINTLESS = """
build --select leaderboard | --name=x; --at-least=0.5
build --watch | --name=x
distil demo --assessor human --grader explainer --name n --dry-run --per-label 2 | --share=0.5
distil --show n | --assessor=human; --share=0.5; --dry-run; --export=n f.yaml; --import=n f.yaml
export qrels demo --all qrels | --output=-; --fill-holes={L}; --map=1:2; --label-set={L}
export qrels demo --label-set {L} | --map=1:2; --json
export qrels demo --label-set {L} --sample 2 --unit query -o f.csv | --allocation=proportional
export qrels demo --label-set {L} --sample 2 -o f.csv | --all=qrels; --fill-holes=judge:overlap
export qrels demo --label-set {L} | --unit=pair; --allocation=equal; --depth=1; --judged-by=human;
    --seed=1
export track demo --participants new | --layout=tot; --anonymous=n.csv; --also=answers;
    --format=json; --output=f.md; --card=lexical; --public=other
export track demo --public new | --by=team; --label-set={L}; --measure=AP
export track demo --card lexical | --by=team; --label-set={L}; --layout=tot; --anonymous=n.csv
export scores demo --label-set {L} | --json; --measures-yml
gate demo --system bm25 --baseline lsa --measure AP --label-set {L} --fixed-queries |
    --alpha=0.05; --sure=any
gate --rule nightly | --alpha=0.4; --level=1; --system=bm25
generate answers demo --grader wiki --dry-run | --max-cost=1; --bank=b; --level=1
generate demo --grader writer --dry-run | --system=s; --max-cost=1; --method=nuggetizer;
    --level=1
grade answers --grader battles | --rubric-version=7; --max-cost=1; --wait
grade answers --grader meets --dry-run | --max-cost=1; --max-minutes=1; --wait
grade answers --grader meets --reread | --max-cost=1
probe demo --grader lexical_direct --plan | --now; --limit=1; --max-minutes=1; --max-cost=1
queue add demo new --from pool --assessor ann --overlap 1 | --tau=2; --grader=lexical;
    --label-set={L}
queue add demo new --grader lexical --assessor ann --overlap 1 | --depth=1; --label-names=a,b;
    --queries=q
queue add demo new --label-set {L} --assessor ann --overlap 1 | --tau=2; --queries=q
review demo --grader lexical --assessor ann | --open; --settle; --queue=first
review demo --grader lexical --assessor ann --blind | --open; --again
review demo --queue first --assessor ann | --query=q; --item=i; --sample=3; --seed=1;
    --only-answered
review demo --queue first --assessor ann --blind | --open
rubric edit sourdough-sour-rise --print | --from=sheet.txt; --json
schedule --cron | --systemd; --into=units
sql --as-sql @leaderboard | --format=csv; --output=f.csv; -n=1; --allow-files
sql --explain @leaderboard | --format=csv; --output=f.csv; -n=1
sql "select 1" | --as-sql; --explain; --measure=AP
sql @ | --format=csv; --output=f.csv; -n=1; --allow-files; --as-sql; --explain; --release=r1;
    --live; --measure=AP
sql @leaderboard --live | --release=r1
stats agreement demo --cut 4 | --each-kappa
stats agreement demo | --judgment-cut=1; --standalone
stats correlation demo --measure AP | --reference-level=1
stats correlation demo --measure AP --reference {L} | --leaderboard=official
stats correlation-table demo --measure AP | --replicates=1000; --seed=1; --by-topic
stats kappa demo --format csv | --json
stats leaderboard answers --label-set {A} | --approximate; --correlation
stats leaderboard demo --board {L} AP 1 | --label-set=judge:overlap; --level=1; --measure=RR
stats leaderboard demo --label-set scores:theirs | --level=1
stats ranks demo --measure AP --label-set {L} | --width=3; --height=3; --font-size=20
stats leaderboard demo --label-set {L} --stderr | --interval
stats significance demo --measure AP --label-set {L} | --reference-level=1
"""
