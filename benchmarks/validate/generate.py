"""Write the same N models as Penstock jobs and as a SQLMesh project: 30-line queries over the tables of one shop.

python benchmarks/validate/generate.py OUT --models 300
"""

import argparse
import random
from pathlib import Path

TABLES = {
    "orders": {
        "order_id": "bigint",
        "customer_id": "bigint",
        "store_id": "int",
        "status": "string",
        "channel": "string",
        "amount": "decimal(12,2)",
        "discount": "decimal(12,2)",
        "ordered_at": "timestamp",
        "ordered_on": "date",
    },
    "customers": {
        "customer_id": "bigint",
        "name": "string",
        "email": "string",
        "country": "string",
        "segment": "string",
        "created_on": "date",
        "score": "double",
    },
    "stores": {
        "store_id": "int",
        "city": "string",
        "region": "string",
        "opened_on": "date",
        "size_sqm": "decimal(8,2)",
    },
}

QUERY = """with recent as (
  select
    o.order_id,
    o.customer_id,
    o.store_id,
    upper(o.status) as status,
    o.amount - coalesce(o.discount, 0) as net_{n},
    date_trunc('MONTH', o.ordered_at) as month
  from orders o
  where o.ordered_on >= date'2024-{month:02d}-01'
    and o.channel in ('web', 'store', '{channel}')
),
ranked as (
  select
    r.*,
    c.country,
    c.segment,
    row_number() over (partition by r.customer_id order by r.net_{n} desc) as position
  from recent r
  join customers c on c.customer_id = r.customer_id
)
select
  k.month,
  k.country,
  s.region,
  count(*) as orders,
  count(distinct k.customer_id) as buyers,
  sum(k.net_{n}) as revenue,
  cast({function}(k.net_{n}) as decimal(18, 4)) as typical,
  max(case when k.position = 1 then k.net_{n} end) as best
from ranked k left join stores s on s.store_id = k.store_id
group by k.month, k.country, s.region having count(*) > {limit}"""


def query(number: int) -> str:
    chooser = random.Random(number)
    return QUERY.format(
        n=number,
        month=chooser.randint(1, 12),
        channel=chooser.choice(("phone", "app", "kiosk")),
        function=chooser.choice(("avg", "min", "max")),
        limit=chooser.randint(1, 50),
    )


def penstock_job(number: int) -> str:
    """A HOCON job: three sources with their schema, the query, one sink."""
    sources = "\n".join(
        f"  LocalFile {{ plugin_output = {table}, path = data/{table}, file_format_type = parquet, schema {{ fields {{ "
        + ", ".join(f'{name} = "{type_}"' for name, type_ in columns.items())
        + " } } }"
        for table, columns in TABLES.items()
    )
    return (
        f"source {{\n{sources}\n}}\n"
        f'transform {{\n  Sql {{\n    plugin_input = ["orders", "customers", "stores"]\n'
        f'    plugin_output = model_{number}\n    query = """\n{query(number)}\n"""\n  }}\n}}\n'
        f"sink {{ LocalFile {{ plugin_input = model_{number}, path = out/{number}, file_format_type = parquet }} }}\n"
    )


def sqlmesh_model(number: int) -> str:
    text = query(number)
    for table in TABLES:
        text = text.replace(f"from {table} ", f"from shop.{table} ").replace(f"join {table} ", f"join shop.{table} ")
    return f"MODEL (name mart.model_{number}, kind FULL, dialect spark);\n\n{text}\n"


SQLMESH_CONFIG = """gateways: { local: { connection: { type: duckdb } } }
model_defaults: { dialect: spark }
linter: { enabled: true, rules: [ambiguousorinvalidcolumn, invalidselectstarexpansion] }
"""


def write(out: Path, models: int) -> None:
    jobs, mesh = out / "penstock", out / "sqlmesh"
    jobs.mkdir(parents=True, exist_ok=True)
    (mesh / "models").mkdir(parents=True, exist_ok=True)
    for number in range(models):
        (jobs / f"model_{number:03d}.conf").write_text(penstock_job(number))
        (mesh / "models" / f"model_{number:03d}.sql").write_text(sqlmesh_model(number))
    (mesh / "config.yaml").write_text(SQLMESH_CONFIG)
    (mesh / "external_models.yaml").write_text(
        "".join(
            f"- name: shop.{table}\n  columns:\n" + "".join(f"    {name}: {type_}\n" for name, type_ in columns.items())
            for table, columns in TABLES.items()
        )
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--models", type=int, default=300)
    arguments = parser.parse_args()
    write(arguments.out, arguments.models)
