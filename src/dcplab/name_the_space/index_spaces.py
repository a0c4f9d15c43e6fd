"""Holds the templates of 1i: reads, writes, pages and tables of lab 01's five numbers."""

from __future__ import annotations

from dcplab.name_the_space.typing import ALLOCATOR_PAGE, INDEX_K_PAGE, LOC, POSITION, RANK, ROW
from dcplab.name_the_space.words import Matter, made

TEMPLATES = (
    made("write", """
        keys[new] = k
        a = new % D == r
        b = new[a] // D
        ckv[b] = kv[a]
    """, (1, "keys[new // D] = k"), (4, "ckv[new[a]] = kv[a]"), (3, "b = new[a] // P")),
    made("read", """
        a = table[req, top]
        b = a % D == r
        c = torch.where(b, a // D, -1)
        d = attend(q, c)
    """, (4, "d = attend(q, a)"), (1, "a = table[req, new]"), (3, "c = torch.where(b, a // D, a)"),
        (3, "c = torch.where(b, a, -1)")),
    made("slots", """
        a = table_w[req, pos // (P * D)]
        b = pos % (P * D)
        c = a * P + b // D
        d = b % D == r
        ckv[c[d]] = kv[d]
    """, (1, "a = table_w[req, pos // P]"), (5, "keys[c[d]] = kv[d]"), (3, "c = a * (P * D) + b")),
    made("key pages", """
        a = table_k[req, pos // P]
        b = pos % P
        c = keys_paged[a, b]
        marks[a * P + b] = True
    """, (3, "c = keys_paged[a // D, b]"), (1, "a = table_k[req, pos]"), (4, "marks[a] = True"), (3, "c = ckv_paged[a, b]")),
    made("page of rows", """
        a = new // D
        b = a // P
        c = ckv_paged[b, a % P]
        refs[b] += 1
    """, (3, "c = ckv_paged[b, new % P]"), (2, "b = a // (P * D)"), (4, "refs[new // P] += 1"),
        (3, "c = ckv_paged[new // P, a % P]")),
    made("back", """
        a = table[req, top]
        b = a % D == r
        c = a[b] // D
        d = c * D + r
        marks[d] = True
    """, (5, "marks[c] = True"), (4, "d = c * P + r"), (3, "c = a[b] // P")),
    made("references", """
        a = table[req, :length]
        b = a // (P * D)
        c = b.unique()
        refs[c] += 1
        marks[a] = False
    """, (4, "refs[a] += 1"), (5, "marks[c] = False"), (2, "b = a // P")),
    made("release", """
        a = new // (P * D)
        refs[a] -= 1
        b = a[refs[a] == 0]
        free(b)
    """, (4, "free(new)"), (2, "refs[new // P] -= 1"), (4, "free(b * (P * D))")),
    made("new page", """
        a = pages * (P * D)
        b = a[:, None] + torch.arange(P * D)
        c = b % D == r
        ckv[b[c] // D] = 0
        keys[b] = 0
    """, (4, "ckv[b[c]] = 0"), (4, "ckv[b[c] // P] = 0"), (5, "keys[b // D] = 0")),
    made("rows of a page", """
        a = pages * P
        b = a[:, None] + torch.arange(P)
        ckv[b] = 0
        c = b * D + r
        keys[c] = 0
    """, (5, "keys[b] = 0"), (3, "ckv[b * D + r] = 0"), (4, "c = b * P + r")),
    made("two kinds", """
        a = pages[:, None] * D + torch.arange(D)
        b = keys_pages[a]
        c = ckv_pages[pages]
        refs[a // D] += 1
    """, (2, "b = keys_pages[pages]"), (3, "c = ckv_pages[a]"), (4, "refs[a] += 1")),
    made("fetch", """
        a = table[req, top]
        b = a % D
        load[b] += 1
        c = fetch(b, a)
    """, (3, "load[a // D] += 1"), (4, "c = fetch(b, a // D)"), (4, "c = fetch(a, b)")),
    made("rotary", """
        a = torch.arange(length)
        b = table[req, a]
        c = rope[a]
        d = ids[a]
        keys[b] = k * c
    """, (3, "c = rope[b]"), (5, "keys[a] = k * c"), (4, "d = ids[b]")),
    made("bounds", """
        a = new // D
        b = a < rows_here
        c = a[b]
        ckv[c] = kv[b]
        load[new % D] += 1
    """, (2, "b = new < rows_here"), (4, "ckv[new[b]] = kv[b]"), (5, "load[a % D] += 1")),
    made("host copy", """
        a = table[req, :length]
        b = a[a % D == r]
        c = b // D
        host[b] = ckv[c]
    """, (4, "host[c] = ckv[c]"), (4, "host[b] = ckv[b]"), (2, "b = a[a // D == r]")),
    made("last token", """
        a = length - 1
        b = table_w[req, a // (P * D)]
        c = b * (P * D) + a % (P * D)
        load[c % D] += 1
    """, (2, "b = table_w[req, a // P]"), (3, "c = b * P + a % (P * D)"), (4, "load[c // D] += 1")),
    made("joined", """
        a = table[req, top]
        b = torch.cat([a, new])
        c = keys[b]
        load[b % D] += 1
    """, (2, "b = torch.cat([a, pos])"), (3, "c = keys[b // D]"), (2, "b = torch.cat([a // D, new])")),
    made("two tables", """
        a = new[::P] // P
        b = new[::P * D] // (P * D)
        c = keys_pages[a]
        d = ckv_pages[b]
    """, (4, "d = ckv_pages[a]"), (3, "c = keys_pages[b]"), (1, "a = new[::P] // D")),
    made("from rows", """
        a = row * D + r
        b = a // P
        c = keys_paged[b, a % P]
        d = ckv[row]
    """, (3, "c = keys_paged[row // P, a % P]"), (3, "c = keys_paged[b, row % P]"), (4, "d = ckv[a]")),
    made("own words", """
        a = top[top < length]
        b = ids[a]
        c = table[req, a]
        load[c % D] += 1
    """, (2, "b = ids[table[req, a]]"), (4, "load[c // D] += 1"), (1, "a = top[top < rows_here]")),
    made("around a row", """
        a = row // P
        refs[a] += 1
        b = a * (P * D)
        c = b[:, None] + torch.arange(P * D)
        marks[c] = True
    """, (2, "refs[a // P] += 1"), (5, "marks[row] = True"), (3, "b = a * P")),
    made("widened", """
        a = table_k[req, pos // P]
        b = a // D
        refs[b] += 1
        c = keys_pages[a]
        d = ckv_pages[b]
    """, (3, "refs[a] += 1"), (5, "d = ckv_pages[a]"), (4, "c = keys_pages[b]")),
)  # fmt: skip

MATTER = Matter(spaces=(POSITION, LOC, ROW, INDEX_K_PAGE, ALLOCATOR_PAGE, RANK), templates=TEMPLATES)
