package io.carillon.bench.report;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** The file of all results: one JSON object per line for each execution of a workload. Lines are only appended. */
public final class ResultFile {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final Path file;

    public ResultFile(Path file) {
        this.file = file;
    }

    public Path path() {
        return file;
    }

    public void append(Result result) throws IOException {
        Path folder = file.toAbsolutePath().getParent();
        if (folder != null) Files.createDirectories(folder);
        String line = JSON.writeValueAsString(result) + "\n";
        // An interrupted benchmark may have left an incomplete line; the new line must not continue it.
        if (Files.exists(file) && Files.size(file) > 0 && !endsWithNewline()) line = "\n" + line;
        Files.writeString(file, line, StandardCharsets.UTF_8, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    private boolean endsWithNewline() throws IOException {
        try (var channel = Files.newByteChannel(file)) {
            channel.position(channel.size() - 1);
            var last = java.nio.ByteBuffer.allocate(1);
            channel.read(last);
            return last.get(0) == '\n';
        }
    }

    /** Returns all readable results, oldest first. */
    public List<Result> read() throws IOException {
        if (!Files.exists(file)) return List.of();
        List<Result> results = new ArrayList<>();
        for (String line : Files.readAllLines(file, StandardCharsets.UTF_8)) {
            if (line.isBlank()) continue;
            try {
                results.add(JSON.readValue(line, Result.class));
            } catch (JacksonException cutOff) {
                // A benchmark was killed while it wrote this line; its workload is measured again.
            }
        }
        return results;
    }

    /** Returns the newest result of a workload for this environment. */
    public Optional<Result> find(String workload, BenchEnvironment now) throws IOException {
        return read().stream()
                .filter(result -> result.answersFor(workload, now))
                .reduce((older, newer) -> newer);
    }
}
