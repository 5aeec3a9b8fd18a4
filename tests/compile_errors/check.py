"""Each file here must not compile, and the compiler must say the sentence after `expect:` in its first comment.

usage: check.py COMPILER INCLUDE_DIR
"""
import pathlib
import re
import subprocess
import sys

compiler, include = sys.argv[1:3]
folder = pathlib.Path(__file__).parent
failed = 0
for source in sorted(folder.glob("*.cpp")):
    expected = re.search(r"expect: (.*)", source.read_text()).group(1)
    done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", f"-I{include}", str(source)],
                          capture_output=True, text=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
    if done.returncode == 0:
        print(f"{source.name}: compiled, and should not")
        failed += 1
    elif expected not in done.stderr:
        print(f"{source.name}: the message lacks '{expected}':\n{done.stderr[:2000]}")
        failed += 1
print(f"{failed} of the sources behaved otherwise than they say")
sys.exit(1 if failed else 0)
