-- Where does execution go on?
-- picture
SELECT flow, count(*) AS n FROM instructions GROUP BY flow ORDER BY n DESC
