package io.carillon.it.architecture;

import java.time.LocalDate;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The list of published advisories about libraries, and its comparison with the versions on a class path. The class
 * path of the integration tests contains every library of the product, also the optional ones.
 */
record Advisories(List<Advisory> list) {
    static final String FILE = "carillon-it/src/test/resources/advisories.csv";

    private static final Pattern VERSION_PART = Pattern.compile("\\d+|[a-zA-Z]+");

    /**
     * An advisory.
     *
     * @param artifact the group id and the artifact id, separated by a colon
     * @param fixedIn the first version without the vulnerability
     */
    record Advisory(String artifact, String fixedIn, String id, LocalDate date, String source) {
        private static final Pattern ID = Pattern.compile("CVE-\\d{4}-\\d{4,}|GHSA(-[a-z0-9]{4}){3}");

        Advisory {
            if (!artifact.matches("[\\w.-]+:[\\w.-]+") || !fixedIn.matches("\\d[\\w.-]*"))
                throw new IllegalArgumentException(id + " needs group:artifact and a version");
            if (!ID.matcher(id).matches() || !source.startsWith("https://"))
                throw new IllegalArgumentException(id + " needs the id of a CVE or GHSA, and a source");
        }

        /** Returns the versions of the artifact on a class path of jars in a Maven repository. */
        List<String> versionsOn(List<String> classPath) {
            String name = Pattern.quote(artifact.substring(artifact.indexOf(':') + 1));
            String group =
                    Pattern.quote(artifact.substring(0, artifact.indexOf(':')).replace('.', '/'));
            Pattern jar = Pattern.compile(".*/" + group + "/" + name + "/([^/]+)/" + name + "-[^/]*\\.jar");
            return classPath.stream()
                    .map(entry -> jar.matcher(entry.replace('\\', '/')))
                    .filter(Matcher::matches)
                    .map(found -> found.group(1))
                    .toList();
        }
    }

    static Advisories parse(String text) {
        return new Advisories(text.lines()
                .filter(line -> !line.isBlank() && !line.startsWith("#"))
                .map(line -> line.split(",", -1))
                .map(row -> new Advisory(row[0], row[1], row[2], LocalDate.parse(row[3]), row[4]))
                .toList());
    }

    /** Returns the libraries with a vulnerability, and the entries of the list that concern no library. */
    List<String> violations(List<String> classPath) {
        return list.stream()
                .flatMap(advisory -> violations(advisory, classPath))
                .toList();
    }

    private static Stream<String> violations(Advisory advisory, List<String> classPath) {
        List<String> versions = advisory.versionsOn(classPath);
        if (versions.isEmpty())
            return Stream.of("%s: %s is not used. Correct its name, or remove the line."
                    .formatted(advisory.id(), advisory.artifact()));
        return versions.stream()
                .filter(version -> compareVersions(version, advisory.fixedIn()) < 0)
                .map(version -> "%s %s has %s, fixed in %s: %s"
                        .formatted(advisory.artifact(), version, advisory.id(), advisory.fixedIn(), advisory.source()));
    }

    /** Compares versions by their numbers. A version with a word, such as {@code 1.0-rc1}, precedes the one without. */
    static int compareVersions(String one, String other) {
        List<String> left = parts(one);
        List<String> right = parts(other);
        for (int i = 0; i < Math.max(left.size(), right.size()); i++) {
            int order = Comparator.comparingLong(Advisories::rank).compare(part(left, i), part(right, i));
            if (order == 0) order = part(left, i).compareTo(part(right, i));
            if (order != 0) return order;
        }
        return 0;
    }

    private static List<String> parts(String version) {
        return VERSION_PART
                .matcher(version)
                .results()
                .map(found -> found.group())
                .toList();
    }

    private static String part(List<String> parts, int i) {
        return i < parts.size() ? parts.get(i) : "0";
    }

    private static long rank(String part) {
        return Character.isDigit(part.charAt(0)) ? Long.parseLong(part) : -1;
    }
}
