"""What the lints look at: our own files, tracked or not yet, without what git ignores."""
import subprocess


def own_files(root, *suffixes):
    """Paths below `root` that end in one of `suffixes` (all files if none is given), sorted."""
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        check=True, stdout=subprocess.PIPE).stdout.decode()
    paths = {path for path in listed.split("\0") if path.endswith(suffixes or "")}
    return sorted(path for path in paths if is_there(root, path))


def is_there(root, path):
    """False for a tracked file that has just been deleted."""
    try:
        with open(f"{root}/{path}", "rb"):
            return True
    except (FileNotFoundError, IsADirectoryError):
        return False


def lines_of(root, path):
    """The lines of a text file, without line ends."""
    with open(f"{root}/{path}", encoding="utf-8") as file:
        return file.read().split("\n")
