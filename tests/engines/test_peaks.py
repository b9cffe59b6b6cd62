"""What the workers of a cluster took of memory, from processes as Linux shows them."""

from showthrough.engines import peaks


def shown(home, pid, parent, name, megabytes):
    own = home / str(pid)
    own.mkdir()
    (own / "stat").write_text(f"{pid} ({name} (x)) S {parent} 1 1")
    (own / "status").write_text(f"Name:\t{name}\nVmPeak:\t9 kB\nVmHWM:\t{megabytes * 1024} kB\n")


def test_python_and_executor_of_each_worker(tmp_path, monkeypatch):
    monkeypatch.setattr(peaks, "_PROCESSES", tmp_path)
    for k, base in enumerate((100, 200)):
        shown(tmp_path, base, 1, "python3", 10)  # the guard
        shown(tmp_path, base + 1, base, "java", 900)  # the worker itself
        shown(tmp_path, base + 2, base + 1, "java", 500 + k)  # its executor
        shown(tmp_path, base + 3, base + 2, "python3", 700)  # the daemon
        shown(tmp_path, base + 4, base + 3, "python3", 60 + k)
        shown(tmp_path, base + 5, base + 3, "python3", 50)
    shown(tmp_path, 300, 1, "python3", 999)  # somebody else's
    watch = peaks.Watch((100, 200))
    assert watch.peaks() == ()
    watch.look()
    found = [(peak.python >> 20, peak.executor >> 20) for peak in watch.peaks()]
    assert found == [(60, 500), (61, 501)]


def test_a_peak_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(peaks, "_PROCESSES", tmp_path)
    shown(tmp_path, 100, 1, "python3", 10)
    shown(tmp_path, 102, 100, "sh", 1)
    shown(tmp_path, 103, 102, "java", 500)
    watch = peaks.Watch((100,))
    watch.look()
    (tmp_path / "103" / "status").unlink()
    watch.look()
    assert watch.peaks()[0].executor >> 20 == 500
